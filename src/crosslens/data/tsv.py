"""Labelled texts and pairs of texts, tab-separated: SIB-200 and XNLI as they are published."""

from collections.abc import Iterator
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.lines import BYTE_ORDER_MARK, normal, read_text
from crosslens.data.sentence import Text, Where
from crosslens.errors import DataError

SIB200 = ("index_id", "category", "text")
"""The header line of SIB-200 (Adelani et al. 2024): the id, which is that of the translations too, and the topic."""


def read_sib200(path: str | Path, *, name: str | None = None, language: str | None = None) -> Corpus:
    """Read a file of SIB-200: a text a line, with its topic as its label.

    Raises:
        DataError: with file and line: for another header, a row of other than three fields, or an empty field.
    """
    file = str(path)
    rows = _rows(path, fields=len(SIB200))
    number, header = next(rows, (1, []))
    if tuple(header) != SIB200:
        raise DataError("is not SIB-200: the first line must be " + " ".join(SIB200), file=file, line=number)
    items = tuple(Text((text,), label, identifier, Where(file, line)) for line, (identifier, label, text) in rows)
    return _corpus(items, file, name, language)


def read_xnli(path: str | Path, *, name: str | None = None, language: str | None = None) -> Corpus:
    """Read a file of XNLI in XTREME's layout: premise, hypothesis and label a line, no header; the id is the line.

    Raises:
        DataError: with file and line: for a row of other than three fields, or an empty field.
    """
    file = str(path)
    rows = _rows(path, fields=3)
    items = tuple(Text((a, b), label, str(line), Where(file, line)) for line, (a, b, label) in rows)
    return _corpus(items, file, name, language)


def _rows(path: str | Path, *, fields: int) -> Iterator[tuple[int, list[str]]]:
    text = read_text(path).removeprefix(BYTE_ORDER_MARK)
    for number, line in enumerate(text.rstrip("\r\n").split("\n"), start=1):
        row = [normal(field).strip() for field in line.split("\t")]
        if len(row) != fields or not all(row):
            filled = sum(map(bool, row))
            raise DataError(
                f"{fields} fields between tabs are needed, and {filled} are here", file=str(path), line=number
            )
        yield number, row


def _corpus(items: tuple[Text, ...], file: str, name: str | None, language: str | None) -> Corpus:
    if not items:
        raise DataError("has no text", file=file)
    return Corpus(items, name or file, language)
