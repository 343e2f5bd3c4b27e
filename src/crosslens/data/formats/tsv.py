"""Tab-separated labelled texts and pairs of texts, as in SIB-200, XNLI, MultiNLI and MLDoc."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import BYTE_ORDER_MARK, normal, read_text
from crosslens.data.sentence import Text, Where
from crosslens.errors import DataError, RequestError
from crosslens.files import write_bytes


@dataclass(frozen=True, slots=True)
class Layout:
    """Column layout of a file.

    Attributes:
        name: name of the layout.
        columns: columns to read: the segments of a text in order, and its label.
        headed: whether the first line names the columns.
        id: column of the id; None uses the line number.
        language: column of the language, or None.
    """

    name: str
    columns: tuple[str, ...]
    headed: bool = True
    id: str | None = None
    language: str | None = None


SIB200 = Layout("SIB-200", ("text", "category"), id="index_id")
"""Adelani et al. 2024: topics; translations share the id."""
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
"""Known layouts; the first that fits a file is used."""

UNDECIDED = "-"
"""MultiNLI's gold label of pairs without annotator agreement, which are excluded, as is customary."""


def read(
    path: str | Path,
    *,
    layout: Layout | None = None,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
) -> Corpus:
    """Read texts, or pairs of texts, with their labels.

    Args:
        path: the file.
        layout: column layout; None: one of `LAYOUTS`, recognised by the header or the number of columns.
        name: name of the corpus; the path by default.
        language: BCP 47 tag; only its rows of a multilingual file are read.
        split: ``train``, ``dev`` or ``test``.

    Raises:
        DataError: with file and line, for a header or row that does not fit the layout, an empty field, or a
            multilingual file without ``language``.
    """
    file = str(path)
    rows = _rows(path)
    layout = layout or _recognised(rows, file)
    if layout.headed:
        header = rows[0][1]
        wanted = [*layout.columns, *([layout.id] if layout.id else [])]
        if not set(wanted) <= set(header):
            what = " ".join(wanted)
            raise DataError(
                f"is not in {layout.name} format: the first line must name the columns {what}", file=file, line=1
            )
        places = [header.index(column) for column in layout.columns]
        rows = rows[1:]
        languages = [row[header.index(layout.language)] for _, row in rows] if layout.language in header else []
        if languages and language is None and len(set(languages)) > 1:
            raise DataError(
                f"contains {len(set(languages))} languages", file=file, hint=f"choose one: {languages[0]}={file}"
            )
        if languages and language is not None:
            rows = [row for row, tag in zip(rows, languages, strict=True) if tag == language]
    else:
        header, places = [], list(range(len(layout.columns)))
    items = []
    for line, row in rows:
        fields = dict(zip(layout.columns, _fields(row, places, layout, file, line), strict=True))
        label = next(fields.pop(column) for column in ("label", "category", "gold_label") if column in fields)
        if label != UNDECIDED:
            identifier = row[header.index(layout.id)] if layout.id in header else str(line)
            items.append(Text(tuple(fields.values()), label, identifier, Where(file, line)))
    if not items:
        raise DataError("contains no text" + (f" in {language!r}" if layout.language else ""), file=file)
    return Corpus(tuple(items), name or file, language, split)


def write(corpus: Corpus, path: str | Path) -> None:
    """Write texts in SIB-200's layout or pairs in XNLI's, atomically.

    Raises:
        DataError: for a corpus of sentences, or a text without a label.
    """
    rows = [
        [*text.segments, label] if len(text.segments) == 2 else [text.id or "", label, text.text]
        for text, label in zip(corpus.texts, require_labels(corpus), strict=True)
    ]
    if len(corpus.texts[0].segments) == 1:
        rows.insert(0, ["index_id", "category", "text"])
    write_bytes(path, "".join("\t".join(row) + "\n" for row in rows).encode("utf-8"))


def require_labels(corpus: Corpus) -> list[str]:
    """Get the label of every text.

    Raises:
        DataError: with file and line, for a text without a label.
    """
    for text in corpus.texts:
        if text.label is None:
            file, line = text.where or (corpus.name, None)
            raise DataError(f"{corpus.name} has no label", file=file, line=line)
    return [text.label for text in corpus.texts if text.label is not None]


FirstSentences = Literal["all"] | Annotated[int, Field(ge=1, le=2)]
"""Part of a document to read: all, or the first one or two sentences, each as a segment."""


def first_sentences(corpus: Corpus, count: FirstSentences = 2) -> Corpus:
    """Truncate documents to their first sentences, each as a segment.

    Wu & Dredze (2019, section 4.1) read two sentences per document, split with NLTK. crosslens uses sentencex, which
    has rules for more languages and needs no download.

    Args:
        corpus: documents of one segment; its language selects the splitting rules.
        count: number of sentences; ``all`` keeps whole documents.

    Raises:
        RequestError: if sentencex is not installed.
    """
    if count == "all":
        return corpus
    try:
        from sentencex import segment  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError:
        raise RequestError(
            "splitting documents into sentences needs the package sentencex", hint="pip install 'crosslens[documents]'"
        ) from None
    items = []
    for document in corpus.texts:
        sentences = [sentence.strip() for sentence in segment(corpus.language or "en", document.text)]
        kept = tuple(sentence for sentence in sentences if sentence)[:count]
        items.append(replace(document, segments=kept or document.segments))
    return replace(corpus, items=tuple(items))


def _rows(path: str | Path) -> list[tuple[int, list[str]]]:
    lines = read_text(path).removeprefix(BYTE_ORDER_MARK).rstrip("\r\n").split("\n")
    return [(number, [normal(field).strip() for field in line.split("\t")]) for number, line in enumerate(lines, 1)]


def _recognised(rows: Sequence[tuple[int, list[str]]], file: str) -> Layout:
    header = rows[0][1]
    for layout in LAYOUTS:
        named = [*layout.columns, *([layout.language] if layout.language else [])]
        if set(named) <= set(header) if layout.headed else len(layout.columns) == len(header):
            return layout
    raise DataError(
        "unknown tab-separated format",
        file=file,
        line=1,
        hint="use two columns (label, text), three (premise, hypothesis, label), or a header",
    )


def _fields(row: list[str], places: Sequence[int], layout: Layout, file: str, line: int) -> Iterator[str]:
    """Segments and label of a row, checked to be non-empty."""
    if not layout.headed and len(row) != len(places):
        raise DataError(f"{len(row)} tab-separated fields, expected {len(places)}", file=file, line=line)
    for column, place in zip(layout.columns, places, strict=True):
        if place >= len(row):
            raise DataError(f"the row has no column {column!r}", file=file, line=line)
        if not row[place]:
            raise DataError(f"empty {column}", file=file, line=line, hint="remove the row or fill it in")
        yield row[place]
