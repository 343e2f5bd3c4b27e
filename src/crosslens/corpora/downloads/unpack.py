"""Unpack zip and tar archives, refusing those that would write outside their folder."""

import errno
import lzma
import re
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from crosslens.errors import DownloadError

ENDINGS = (".zip", ".tgz", ".tar.gz", ".tar")
"""Endings of archives; other files are not unpacked."""

DAMAGE = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, KeyError, RuntimeError)
"""What libraries raise for a damaged archive, beside OSError."""


def unpack(archive: Path, folder: Path, *, members: str = ".*") -> None:
    """Unpack an archive into a folder.

    Args:
        archive: a zip or tar archive, recognised by its content.
        members: regular expression; only members whose whole path matches are unpacked.

    Raises:
        DownloadError: if the archive is damaged, or a member has a path or link that leads outside the folder.
        OSError: if the folder cannot be written, for example because the disk is full.
    """
    wanted = re.compile(members)
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(archive, folder, wanted)
        else:
            _unpack_tar(archive, folder, wanted)
    except DAMAGE as error:
        # Where a file has the beginning of an archive and no more, tarfile lists what it tried, line by line.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise _damaged(archive, _kind(archive) or ("it is incomplete" if reason.endswith(":") else reason)) from None
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # such as a full disk
            raise
        # gzip reports damage as OSError, and zipfile seeks to where a damaged archive points.
        raise _damaged(archive, str(error) or type(error).__name__) from None


def _unpack_zip(archive: Path, folder: Path, wanted: re.Pattern[str]) -> None:
    with zipfile.ZipFile(archive) as content:
        names = content.namelist()
        _refuse_outside(archive, names)
        content.extractall(folder, [name for name in names if wanted.fullmatch(name)])


def _unpack_tar(archive: Path, folder: Path, wanted: re.Pattern[str]) -> None:
    with tarfile.open(archive) as content:
        members = content.getmembers()
        _refuse_outside(archive, [member.name for member in members])
        chosen = [member for member in members if wanted.fullmatch(member.name)]
        content.extractall(folder, chosen, filter="data")  # refuses links that lead outside


def _refuse_outside(archive: Path, names: list[str]) -> None:
    for name in names:
        if ".." in PurePosixPath(name).parts or name.startswith("/") or PureWindowsPath(name).anchor or "\\" in name:
            raise _damaged(archive, f"{name!r} would be written outside its folder")


def _kind(archive: Path) -> str:
    """What a file is that is not an archive; empty for a damaged archive."""
    with open(archive, "rb") as stream:
        start = stream.read(1024).lstrip().lower()
    if not start:
        return "the file is empty"
    if start.startswith((b"<!doctype html", b"<html")):
        return "the file is a web page, not an archive"
    is_archive = zipfile.is_zipfile(archive) or start.startswith((b"pk\3\4", b"\x1f\x8b")) or b"ustar" in start
    return "" if is_archive else "the file is neither a zip nor a tar archive"


def _damaged(archive: Path, reason: str) -> DownloadError:
    return DownloadError(f"cannot unpack {archive}: {reason}", hint="run the command again to download it again")
