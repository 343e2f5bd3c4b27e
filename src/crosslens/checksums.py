"""SHA-256 of the files of an encoder's or model's folder, as ``sha256sum --check SHA256SUMS`` reads them."""

import re
from pathlib import Path

from crosslens.digests import digest_file
from crosslens.errors import EncoderError

CHECKSUMS = "SHA256SUMS"
UNCHECKED = ("README.md", CHECKSUMS)
"""A model card is there to be edited."""

_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 of every file of a folder into it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in UNCHECKED)
    lines = (f"{digest_file(path)}  {path.relative_to(folder).as_posix()}\n" for path in files)
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8")


def read_checksums(file: Path) -> dict[str, str] | None:
    """Read a file of checksums: name -> SHA-256; empty if the file does not exist, None if it is damaged."""
    try:
        entries = [_LINE.fullmatch(line) for line in file.read_text("utf-8").splitlines()]
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        return None
    return None if None in entries else {entry[2]: entry[1] for entry in entries if entry}


def check_checksums(folder: Path) -> None:
    """Check the files of a folder against its checksums, if it has any.

    Raises:
        EncoderError: naming the file that is missing or was changed.
    """
    checksums = read_checksums(folder / CHECKSUMS)
    if checksums is None or not all((folder / name).resolve().is_relative_to(folder.resolve()) for name in checksums):
        raise EncoderError(f"{folder / CHECKSUMS} is damaged", hint=_MENDED)
    for name, expected in checksums.items():
        path = folder / name
        if not path.is_file():
            raise EncoderError(f"{path} is missing", hint=_MENDED)
        if digest_file(path) != expected:
            raise EncoderError(f"{path} is damaged, or was changed after crosslens wrote it", hint=_MENDED)


_MENDED = f"make or copy the folder again; if you changed it yourself, remove its {CHECKSUMS}"
