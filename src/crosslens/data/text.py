"""Raw text: a line is a sentence or a paragraph."""

from collections.abc import Iterator
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.lines import BYTE_ORDER_MARK, normal, read_text
from crosslens.data.sentence import Sentence, Text, Where
from crosslens.errors import DataError


def read(path: str | Path, *, language: str | None = None) -> Corpus:
    """Read a text file; empty lines are passed over, lines are normalised to NFC.

    Raises:
        DataError: with file and line: for a file that is missing, empty, or not UTF-8.
    """
    file = str(path)
    items = tuple(Text((line,), where=Where(file, number)) for number, line in _lines(path))
    if not items:
        raise DataError("has no text", file=file)
    return Corpus(items, file, language)


def read_words(path: str | Path, *, name: str | None = None, language: str | None = None) -> Corpus:
    """Read text that is cut into words already: a line is a sentence, its words stand between spaces.

    Raises:
        DataError: as `read`.
    """
    file = str(path)
    items = tuple(Sentence(tuple(line.split()), where=Where(file, number)) for number, line in _lines(path))
    if not items:
        raise DataError("has no text", file=file)
    return Corpus(items, name or file, language)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_text(path).removeprefix(BYTE_ORDER_MARK).split("\n"), start=1):
        text = normal(line).strip()
        if text:
            yield number, text
