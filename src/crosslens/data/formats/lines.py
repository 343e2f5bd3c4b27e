"""Shared parts of the line-based formats: reading files, splitting blocks, normalising forms, sentence ids."""

import codecs
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from crosslens.data.sentence import on_one_line
from crosslens.errors import DataError, suggest_beside

BYTE_ORDER_MARK = "\ufeff"
_GZIP = b"\x1f\x8b"


def read_text(path: str | Path, *, otherwise: str | None = None) -> str:
    """Read a UTF-8 file with its original line endings.

    Args:
        otherwise: encoding of a file that is not UTF-8, such as ``latin-1``; None rejects it.

    Raises:
        DataError: if the file is missing, cannot be read or is not UTF-8.
    """
    file = str(path)
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError("file not found", file=file, hint=suggest_beside(path, otherwise="check the path")) from None
    except IsADirectoryError:
        raise DataError("is a folder, not a file", file=file, hint="name a file in it") from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if otherwise is not None:
            return raw.decode(otherwise)
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            hint = "convert it, for example with iconv -f UTF-16 -t UTF-8"
            raise DataError("is UTF-16, not UTF-8", file=file, hint=hint) from None
        if raw.startswith(_GZIP):
            raise DataError("is compressed with gzip", file=file, hint="unpack it with gunzip") from None
        line = raw.count(b"\n", 0, error.start) + 1
        reason = f"invalid UTF-8: byte 0x{raw[error.start]:02x}"
        raise DataError(reason, file=file, line=line, hint="convert it, for example with iconv -t UTF-8") from None


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number the lines of a UTF-8 file from 1, without line endings and the byte order marks at their beginning.

    Files that are joined, as by ``cat``, leave such marks in the middle.

    Raises:
        DataError: as `read_blocks`.
    """
    lines = _text_of_lines(path).split("\n")
    return enumerate((line.removeprefix(BYTE_ORDER_MARK) for line in lines), start=1)


def _text_of_lines(path: str | Path, *, otherwise: str | None = None) -> str:
    text = read_text(path, otherwise=otherwise)
    if "\n" not in text and "\r" in text.rstrip("\r"):
        hint = "convert them, for example with tr '\\r' '\\n'"
        raise DataError("its lines end in carriage returns alone", file=str(path), hint=hint)
    return text


def read_blocks(path: str | Path, *, otherwise: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Read the `blocks` of a UTF-8 file.

    Raises:
        DataError: as `read_text`, and if the lines end in carriage returns alone.
    """
    return blocks(_text_of_lines(path, otherwise=otherwise))


def blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Split text into blocks separated by empty lines, each with the number of its first line.

    Empty lines, which may have spaces and tabs, belong to the preceding block, so the blocks contain all lines.
    """
    block: list[str] = []
    start, filled, closed = 1, False, False
    # Not splitlines, which splits at other characters as well, nor StringIO, which takes four bytes a character.
    for number, match in enumerate(_LINE.finditer(text), start=1):
        line = match[0]
        blank = not line.strip(" \t\r\n")
        if closed and not blank:
            yield start, block
            block, start, filled, closed = [], number, False, False
        block.append(line)
        filled = filled or not blank
        closed = filled and blank
    if filled:
        yield start, block


_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def joined(sentences: Iterable[Iterable[str]]) -> str:
    """Join the lines of sentences, of which any may have been the first or the last of its file.

    Each but the last ends in an empty line, and only the first may begin with a byte order mark.

    >>> joined([["a O\\n"], ["b O"]])
    'a O\\n\\nb O'
    """
    texts: list[str] = []
    for lines in sentences:
        text = "".join(lines)
        if texts:
            before = texts[-1]
            ending = "\r\n" if "\r\n" in before else "\n"
            *_, last, rest = ["", *before.split("\n")]
            texts[-1] += ending * (bool(rest) + bool(rest.strip() or last.strip()))
            text = text.removeprefix(BYTE_ORDER_MARK)
        texts.append(text)
    return "".join(texts)


def normal(form: str) -> str:
    """Normalise a form to Unicode NFC."""
    return form if form.isascii() else unicodedata.normalize("NFC", form)


def as_field(form: str) -> str:
    """A form as a field of a line: tabs and line breaks become spaces, and no form an underscore.

    >>> as_field("New\\nYork"), as_field("")
    ('New York', '_')
    """
    return on_one_line(form) or "_"


def sentence_id(comment: str) -> str | None:
    """Sentence id in a comment: ``# sent_id = 7`` (UD 2), ``#sent_id 7``, ``# sentid: 7`` (UD 1)."""
    match = _SENTENCE_ID.match(comment)
    return match["id"] if match else None


_SENTENCE_ID = re.compile(r"#\s*sent_?id:?(?:\s*=|\s(?!\s*=))\s*(?P<id>\S.*?)\s*$")
