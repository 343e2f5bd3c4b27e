"""Output to terminals and files that cannot show every character, such as ASCII ones."""

import codecs
import io
import sys

ASCII = {"−": "-", "–": "-", "—": "-", "·": "-", "Δ": "d", "…": "...", "×": "x", "≤": "<=", "≥": ">="}
ASCII |= {"─": "-", "│": "|", "✓": "yes", "’": "'", "‘": "'", "“": '"', "”": '"', "→": "->", "━": "="}
"""Character -> what is written in place of it. A sign must not be lost."""


def write_all_characters() -> None:
    """Replace characters that the encoding of the output lacks: ``Δ`` by ``d``, others by an escape."""
    codecs.register_error("crosslens", _replace)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not is_unicode(stream.encoding):
            stream.reconfigure(errors="crosslens")


def is_unicode(encoding: str | None) -> bool:
    """Whether an encoding has every character."""
    return (encoding or "utf-8").lower().startswith("utf")


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(
        ASCII.get(each) or each.encode("ascii", "backslashreplace").decode() for each in characters
    ), error.end
