"""Raw text: a line is a sentence or a paragraph."""

import unicodedata
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Text, Where
from crosslens.errors import DataError


def read(path: str | Path, *, language: str | None = None) -> Corpus:
    """Read a text file; empty lines are passed over, lines are normalised to NFC.

    Raises:
        DataError: with file and line: for a file that is missing, empty, or not UTF-8.
    """
    file = str(path)
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file) from None
    items = []
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = unicodedata.normalize("NFC", line.decode("utf-8")).strip()
        except UnicodeDecodeError:
            hint = "convert it, for example with iconv -t UTF-8"
            raise DataError("is not UTF-8", file=file, line=number, hint=hint) from None
        if text:
            items.append(Text((text,), where=Where(file, number)))
    if not items:
        raise DataError("has no text", file=file)
    return Corpus(tuple(items), file, language)
