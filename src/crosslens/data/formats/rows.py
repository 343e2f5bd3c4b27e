"""Rows of named columns: the content of tables with a header, whatever file or object holds them.

Labelled texts and pairs of texts are recognised by the names of their columns, in `LAYOUTS`; named entities by
``tokens`` and ``ner_tags``, as in the library ``datasets``.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from crosslens.data.corpus import Corpus
from crosslens.data.formats.iob import check_tag
from crosslens.data.formats.lines import normal
from crosslens.data.sentence import Item, Sentence, Text, Where
from crosslens.errors import DataError

Rows = Iterable[tuple[int, Mapping[str, Any]]]
"""Line number and values by column."""

WORDS, TAGS = "tokens", "ner_tags"
"""Columns of named entities."""

NOT_IN_TABLES = "parts of speech and trees are read from CoNLL-U"
"""End of hints about tables of words."""

LABELS = ("label", "category", "gold_label")
"""Columns of labels."""

UNDECIDED = "-"
"""MultiNLI's gold label of pairs of texts without annotator agreement, which are excluded, as is customary."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Column layout of labelled texts.

    Attributes:
        columns: columns to read: the segments of a text in order, and its label.
        headed: whether the first line of a file names the columns.
        id: column of the id; None uses the line number.
        quoted: whether a field with quotation marks is enclosed in them, and its own are doubled, as in CSV.
    """

    name: str
    columns: tuple[str, ...]
    headed: bool = True
    id: str | None = None
    language: str | None = None
    quoted: bool = False

    @property
    def label(self) -> str:
        """Column of the label."""
        return next(column for column in self.columns if column in LABELS)

    @property
    def segments(self) -> tuple[str, ...]:
        """Columns of the text, or of premise and hypothesis."""
        return tuple(column for column in self.columns if column not in LABELS)


SIB200 = Layout("SIB-200", ("text", "category"), id="index_id", quoted=True)
"""Adelani et al. 2024: topics; translations share the id. pandas wrote its files, and reads them so."""
XNLI = Layout("XNLI", ("premise", "hypothesis", "label"), headed=False)
"""XNLI as distributed by XTREME."""
XNLI_MT = Layout("XNLI's translations of MultiNLI", ("premise", "hypo", "label"))
"""Conneau et al. 2018: training data of translate-train; ``contradictory`` stands for ``contradiction``."""
MLDOC = Layout("MLDoc", ("label", "text"), headed=False)
"""Schwenk & Li 2018: output of its script for the Reuters corpora."""

LABELLED = Layout("labelled text", ("text", "label"))

LAYOUTS = (
    SIB200,
    LABELLED,
    Layout("XNLI", ("sentence1", "sentence2", "gold_label"), id="pairID", language="language"),
    Layout("MultiNLI", ("sentence1", "sentence2", "gold_label"), id="pairID"),
    XNLI_MT,
    XNLI,
    MLDOC,
)
"""Known layouts; the first that fits is used."""


def find_layout(columns: Collection[str]) -> Layout | None:
    """Find the layout of labelled texts with these columns; without a column of labels, that of texts to predict."""
    labelled = (layout for layout in LAYOUTS if set(layout.columns) <= set(columns))
    texts = (layout for layout in LAYOUTS if set(layout.segments) <= set(columns))
    return next(labelled, None) or next(texts, None)


def read_rows(
    rows: Rows,
    columns: Sequence[str],
    *,
    file: str,
    features: Mapping[str, Any] = MappingProxyType({}),
    unnamed: bool = False,
    incomplete: bool = False,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
) -> Corpus:
    """Make a corpus of rows with named columns: texts, pairs of texts, or sentences with named entities.

    Args:
        features: column -> description of its values in ``datasets``, with the names of labels.
        unnamed: whether labels without names are written as they are.
        incomplete: as in `texts`.

    Raises:
        DataError: for unknown columns, empty fields, a label without a name, an invalid IOB tag, or no rows.
    """
    layout = find_layout(columns)
    items: Iterable[Item]
    if {WORDS, TAGS} <= set(columns):
        items = _sentences(rows, label_name(features.get(TAGS), file, unnamed=unnamed), file)
    elif layout is not None:
        write = label_name(features.get(layout.label), file, unnamed=unnamed)
        rows = of_language(rows, layout, language, file) if layout.language in columns else rows
        items = texts(rows, layout, file=file, labelled=layout.label in columns, incomplete=incomplete, label=write)
    else:
        raise DataError(
            f"has neither entities, topics nor pairs, but {', '.join(columns)}",
            file=file,
            hint="name the columns text and label, or premise, hypothesis and label, or tokens and ner_tags; "
            f"{NOT_IN_TABLES}",
        )
    kept = tuple(items)
    if not kept:
        raise DataError("contains no sentences", file=file)
    return Corpus(kept, name or file, language, split)


def texts(
    rows: Rows,
    layout: Layout,
    *,
    file: str,
    labelled: bool = True,
    incomplete: bool = False,
    label: Callable[[Any], str | None] = str,
) -> Iterator[Text]:
    """Yield the texts of rows; rows without a decided label are left out, unless labels may be incomplete.

    Args:
        labelled: whether there is a column of labels.
        incomplete: whether texts may lack a label, as those to predict, of which none may be left out. They keep the
            ids of a column ``id``, which need not be unique and by which other corpora are not aligned.
        label: function from a value of that column to the label; None for no label.

    Raises:
        DataError: with file and line, for a missing or empty field.
    """
    own = layout.id or ("id" if incomplete else None)
    for line, row in rows:
        unlabelled = not labelled or (incomplete and _missing(row.get(layout.label)))
        for column in layout.segments if unlabelled else layout.columns:
            if column not in row:
                raise DataError(f"the row has no column {column!r}", file=file, line=line)
            if isinstance(row[column], list | Mapping):
                raise DataError(f"{column} is not a text", file=file, line=line)
            if _missing(row[column]):
                raise DataError(f"empty {column}", file=file, line=line, hint="remove the row or fill it in")
        value = None if unlabelled else label(row[layout.label])
        if value == UNDECIDED and len(layout.segments) == 2:
            value = None
        if value is None and labelled and not incomplete:
            continue
        identifier = row.get(own) if own else None
        segments = tuple(normal(str(row[column])).strip() for column in layout.segments)
        yield Text(segments, value, str(line if _missing(identifier) else identifier), Where(file, line))


def of_language(rows: Rows, layout: Layout, language: str | None, file: str) -> Rows:
    """Select the rows of a language by its column.

    Raises:
        DataError: for rows in several languages if none is named.
    """
    rows = list(rows)
    languages = list(dict.fromkeys(row.get(layout.language or "") for _, row in rows))
    if language is None and len(languages) > 1:
        raise DataError(f"contains {len(languages)} languages", file=file, hint=f"choose one: {languages[0]}={file}")
    return [(line, row) for line, row in rows if language in (None, row.get(layout.language or ""))]


def label_name(feature: Any, file: str, *, unnamed: bool = False) -> Callable[[Any], str | None]:
    """Return a function from a value of a column to the name of its label; None for -1 (unlabelled).

    Args:
        feature: description of the column in ``datasets``.
        unnamed: whether labels without names are written as they are.
    """
    while isinstance(feature, Mapping) and "feature" in feature:  # a list of labels
        feature = feature["feature"]
    feature = feature[0] if isinstance(feature, list) else feature
    names = feature.get("names") if isinstance(feature, Mapping) else None

    def name(value: Any) -> str | None:
        if isinstance(value, str) or (unnamed and names is None):
            return normal(str(value)).strip()
        if value == -1:
            return None
        if names is None or not 0 <= value < len(names):
            raise DataError(f"label {value} has no name in dataset_info.json", file=file)
        return names[value]

    return name


def _sentences(rows: Rows, label: Callable[[Any], str | None], file: str) -> Iterator[Sentence]:
    for number, row in rows:
        words, codes = row.get(WORDS), row.get(TAGS)
        listed = all(isinstance(each, Collection) and not isinstance(each, str) for each in (words, codes))
        if words is None or codes is None or not listed or not all(isinstance(word, str) for word in words):
            raise DataError(f"{WORDS} and {TAGS} must be a list of words and a list of tags", file=file, line=number)
        tags = [tag for tag in map(label, codes) if tag is not None]
        if len(tags) != len(words):
            raise DataError(f"{len(words)} words, but {len(tags)} tags", file=file, line=number)
        if tags:
            entities = tuple(check_tag(tag, file=file, line=number) for tag in tags)
            yield Sentence(tuple(map(normal, words)), entities=entities, where=Where(file, number))


def _missing(value: Any) -> bool:
    """Whether a field is empty: no value, the NaN of pandas, or blanks."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())
