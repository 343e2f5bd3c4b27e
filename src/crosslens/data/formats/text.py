"""Read raw text with one sentence or paragraph per line."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import BYTE_ORDER_MARK, normal, read_text
from crosslens.data.scripts import script_name, unsegmented_script
from crosslens.data.sentence import Sentence, Text, Where
from crosslens.errors import DataError


def read(path: str | Path, *, language: str | None = None) -> Corpus:
    """Read a text file; empty lines are skipped, and lines are normalised to NFC.

    Raises:
        DataError: with file and line, for a file that is missing, empty, or not UTF-8.
    """
    file = str(path)
    items = tuple(Text((line,), where=Where(file, number)) for number, line in _lines(path))
    if not items:
        raise DataError("contains no text", file=file)
    return Corpus(items, file, language)


def read_words(path: str | Path, *, name: str | None = None, language: str | None = None) -> Corpus:
    """Read tokenized text, with one sentence per line and words separated by spaces.

    A warning is given for text that looks unsegmented: see `crosslens.data.scripts.unsegmented_script`.

    Raises:
        DataError: as `read`.
    """
    file = str(path)
    items = tuple(Sentence(tuple(line.split()), where=Where(file, number)) for number, line in _lines(path))
    if not items:
        raise DataError("contains no text", file=file)
    script = unsegmented_script([word for item in items for word in item.words])
    if script is not None:
        name_of_script = script_name(script)
        warnings.warn(
            f"{file}: words must be separated by spaces, but {name_of_script} text seems to have none between words;"
            " segment it first",
            stacklevel=2,
        )
    return Corpus(items, name or file, language)


_WORD = re.compile(r"[^\W_]+(?:['’\u00b7-][^\W_]+)*|[^\w\s]|_")
"""A word of letters and digits, with apostrophes, hyphens and middle dots inside; or any other single character."""


def cut_words(corpus: Corpus) -> Corpus:
    """Split running text into words at spaces and punctuation; sentences of words are returned unchanged.

    Text in scripts without spaces is not segmented: pass it with spaces between words.
    """
    if all(isinstance(item, Sentence) for item in corpus):
        return corpus
    items = tuple(Sentence(tuple(_WORD.findall(item.text)), id=item.id, where=item.where) for item in corpus.texts)
    return replace(corpus, items=items)


def read_lines(path: str | Path, *, name: str | None = None, language: str | None = None) -> Corpus:
    """Read one side of line-aligned text: each line is an item, with its line number as id.

    Raises:
        DataError: as `read`, and for an empty line, because skipping it would shift the alignment.
    """
    file = str(path)
    lines = read_text(path).removeprefix(BYTE_ORDER_MARK).split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise DataError("empty line in text that is aligned line by line", file=file, line=number)
    if not lines:
        raise DataError("contains no text", file=file)
    texts = [normal(line).strip() for line in lines]
    items = tuple(Text((text,), id=str(n), where=Where(file, n)) for n, text in enumerate(texts, start=1))
    return Corpus(items, name or file, language)


def read_labelled(path: str | Path, labels: str | Path, *, name: str | None = None, split: str | None = None) -> Corpus:
    """Read texts with labels from a second, line-aligned file, as in WiLI-2018 (Thoma 2018).

    Raises:
        DataError: as `read_lines`, and if the files differ in their number of lines.
    """
    texts, label_lines = read_lines(path), read_lines(labels)
    if len(texts) != len(label_lines):
        raise DataError(f"{len(label_lines)} labels, but {path} has {len(texts)} texts", file=str(labels))
    items = tuple(replace(text, label=label.text) for text, label in zip(texts.texts, label_lines.texts, strict=True))
    return replace(texts, items=items, name=name or str(path), split=split)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(read_text(path).removeprefix(BYTE_ORDER_MARK).split("\n"), start=1):
        text = normal(line).strip()
        if text:
            yield number, text
