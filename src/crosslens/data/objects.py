"""Corpora from Python objects: lists of texts or words, data frames, mappings of columns, data sets."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import normal
from crosslens.data.formats.rows import read_rows
from crosslens.data.sentence import Item, Sentence, Text, Where
from crosslens.errors import DataError

FILE = "data"
"""Name of the object in messages."""


def has_columns(data: object) -> bool:
    """Whether an object is a table: a mapping of columns, a data frame, an Arrow table, or a `datasets.Dataset`."""
    return isinstance(data, Mapping) or hasattr(data, "column_names") or hasattr(data, "columns")


def column_names(data: Any) -> list[str]:
    """Names of the columns of a table that `has_columns`."""
    return [str(name) for name in getattr(data, "column_names", getattr(data, "columns", data))]


def corpus_of(data: Any, *, pairs: bool = False, incomplete: bool = False, language: str | None = None) -> Corpus:
    """Make a corpus of a Python object.

    >>> corpus_of([["Le", "chat", "dort"]], language="fr").words
    3
    >>> corpus_of({"text": ["Good.", "Bad."], "label": [1, 0]})[0].label
    '1'

    Args:
        data: a list of texts; a list of sentences, each a list of words; `Sentence` or `Text` objects; or a table whose
            columns are named as those of a file (`crosslens.data.formats.rows.LAYOUTS`).
        pairs: whether lists of strings are the segments of a text and not the words of a sentence.
        incomplete: whether the texts of a table may lack a label (`crosslens.data.formats.rows.texts`).
        language: BCP 47 tag.

    Returns:
        The corpus, named after its content.

    Raises:
        DataError: for an object of another kind, or a row that cannot be read.
    """
    if has_columns(data):
        corpus = _of_columns(data, incomplete=incomplete)
    elif isinstance(data, Iterable):
        corpus = Corpus(tuple(_item(item, number, pairs=pairs) for number, item in enumerate(data, start=1)), FILE)
    else:
        raise DataError(f"a {type(data).__name__} is not a corpus", hint="give a name, a file, texts, words or a table")
    if not len(corpus):
        raise DataError("contains no sentences", file=FILE)
    return Corpus(corpus.items, f"{FILE}-{corpus.digest[:8]}", language)


def _item(item: Any, number: int, *, pairs: bool) -> Item:
    if isinstance(item, Sentence):
        return replace(item, words=tuple(map(normal, item.words)))
    if isinstance(item, Text):
        return replace(item, segments=tuple(map(normal, item.segments)))
    if isinstance(item, str):
        return Text((normal(item).strip(),), id=str(number))
    parts = tuple(item) if isinstance(item, Iterable) and not isinstance(item, Mapping) else None
    if parts == ():
        raise DataError(f"item {number} is empty", hint="leave it out")
    if parts is None or not all(isinstance(part, str) for part in parts):
        raise DataError(
            f"item {number} is a {type(item).__name__}, not a text or words",
            hint="give strings, lists of words such as [['Le', 'chat']], or a table, such as pandas.DataFrame(rows)",
        )
    strings = tuple(map(normal, parts))
    return Text(strings, id=str(number), where=Where(FILE, number)) if pairs else Sentence(strings, id=str(number))


def _of_columns(data: Any, *, incomplete: bool) -> Corpus:
    names = column_names(data)
    columns = {name: column_values(data[name]) for name in names}
    if len({len(values) for values in columns.values()}) > 1:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise DataError(f"columns differ in length: {lengths}", file=FILE)
    features: Any = getattr(data, "features", None)
    described = features.to_dict() if hasattr(features, "to_dict") else {}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return read_rows(
        enumerate(rows, start=1), names, file=FILE, features=described, unnamed=True, incomplete=incomplete
    )


def column_values(column: Any) -> list:
    """Values of a column, None where one is missing."""
    if hasattr(column, "to_pylist"):  # Arrow
        return column.to_pylist()
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    if not hasattr(column, "isna"):
        return values
    return [None if missing else value for value, missing in zip(values, column.isna(), strict=True)]  # pandas
