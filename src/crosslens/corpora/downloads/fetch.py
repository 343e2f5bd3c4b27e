"""Download one file, with resumption and a checksum."""

import errno
import time
from pathlib import Path

import httpx

from crosslens.digests import digest, digest_file
from crosslens.environment import offline, to_go_online
from crosslens.errors import DownloadError
from crosslens.progress import Listener, Progress, listening

TRIES = 5
CORRUPTED = "the file is not the published one, or was corrupted; it was removed, so download it again"


def fetch(
    url: str,
    path: Path,
    *,
    sha256: str | None = None,
    hint: str = CORRUPTED,
    progress: Listener = None,
    pause: float = 1.0,
) -> None:
    """Download a file, resuming an interrupted download of the same address from a ``.part`` file beside it.

    A file that has changed at the server since its first part was received is downloaded from the beginning.

    Args:
        path: destination; the file appears when it is complete and checked.
        sha256: expected checksum; None skips the check.
        hint: what to do if the checksum differs.
        progress: listener for the number of bytes received.
        pause: seconds before the second attempt, doubled before each further one.

    Raises:
        DownloadError: if the network is switched off, the server refuses the request or keeps closing the connection,
            the disk is full, or the checksum differs, in which case the file is removed.
    """
    if offline():
        raise DownloadError(f"cannot download {url}: the network is switched off", hint=to_go_online())
    listener = listening(progress)
    part = unfinished(path, url)
    reason = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path.parent, error) from None
    for attempt in range(TRIES):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            if _fetch_rest(url, part, path.name, listener):
                break
            reason = "the server broke off"
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            reason = f"the server answered {status} {error.response.reason_phrase}"
            if status < 500 and status != 429:
                raise DownloadError(f"{url}: {reason}", hint="check the address") from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
        except OSError as error:
            raise unwritable(part, error) from None
    else:
        raise DownloadError(
            f"{url}: gave up after {TRIES} tries: {reason}", hint=f"run the command again to resume from {part}"
        )
    _version_file(part).unlink(missing_ok=True)
    if sha256 is not None:
        actual = digest_file(part)
        if actual != sha256.lower():
            part.unlink()
            raise DownloadError(f"{url}: sha256 is {actual}, expected {sha256.lower()}", hint=hint)
    part.replace(path)


def unfinished(path: Path, url: str) -> Path:
    """The file of an unfinished download; another address has another file, because their contents may differ."""
    return path.with_name(f"{path.name}.{digest(url)[:8]}.part")


def _version_file(part: Path) -> Path:
    """The file beside an unfinished one with its version at the server, if the server names one."""
    return part.with_name(f"{part.name}.version")


def _fetch_rest(url: str, part: Path, name: str, progress: Progress) -> bool:
    """Request the missing bytes; return whether the file is complete."""
    received = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={received}-"} if received else {})}
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=30) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            _, _, size = response.headers.get("Content-Range", "").partition("/")
            if size == str(received):
                return True  # already complete
            part.unlink()
            return False
        response.raise_for_status()
        version_file = _version_file(part)
        version = response.headers.get("ETag") or response.headers.get("Last-Modified", "")
        if response.status_code != httpx.codes.PARTIAL_CONTENT:
            received = 0  # the server cannot resume and sends the whole file
            part.unlink(missing_ok=True)  # before its version, which is that of another file
            version_file.write_text(version, "utf-8")
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {received}-"):
            part.unlink()  # the server resumes at another position
            return False
        elif version_file.exists() and version_file.read_text("utf-8") != version:
            part.unlink()  # the server resumes another file
            return False
        length = response.headers.get("Content-Length")
        total = received + int(length) if length else None
        with open(part, "ab" if received else "wb") as stream:
            for chunk in response.iter_bytes():
                stream.write(chunk)
                received += len(chunk)
                progress.report(f"downloading {name}", received, total, "bytes")
    return total is None or received == total


def unwritable(path: Path, error: OSError) -> DownloadError:
    """The error of a file or folder that cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "free some space, or choose another folder with --into, and run the command again"
        return DownloadError(f"cannot write {path}: the disk is full", hint=hint)
    return DownloadError(f"cannot write {path}: {error.strerror or error}", hint="choose another folder with --into")
