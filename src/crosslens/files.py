"""Atomic writes: to a temporary file in the same folder, synced, then renamed."""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crosslens.errors import RequestError, WorkError


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically."""
    path = Path(path)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def write_text(path: str | Path, content: str) -> None:
    """Write a UTF-8 text file atomically."""
    write_bytes(path, content.encode())


def refuse_existing(path: str | Path, *, what: str = "--out") -> Path:
    """Check that a path does not exist yet, or is an empty folder, and return it.

    Raises:
        RequestError: if the path exists, or nothing can be written there.
    """
    path = Path(path)
    try:
        is_empty = path.is_dir() and not any(path.iterdir())
        if not is_empty and (path.exists() or path.is_symlink()):
            raise RequestError(f"{what}: {path} exists already", hint="choose another path, or remove it first")
        _refuse_unwritable(path.parent)
    except OSError as error:
        raise RequestError(f"{what}: {path}: {error.strerror}", hint="choose another path") from None
    return path


def _refuse_unwritable(folder: Path) -> None:
    """Raise OSError if the folder, or the nearest of its parents that exists, is not a folder to write to."""
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is a file, not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        reason = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
        raise OSError(reason, f"nothing can be written to {folder} ({os.strerror(reason).lower()})")


def disk_reason(error: BaseException) -> str | None:
    """Return why the operating system refused to read or write, or None for other errors.

    Safetensors reports such refusals as an error of its own, in whose text the system's stands.

    >>> disk_reason(OSError(28, "No space left on device", "out/model"))
    'out/model: no space left on device'
    """
    if isinstance(error, OSError):
        reason = (error.strerror or str(error) or type(error).__name__).strip()
        reason = reason[:1].lower() + reason[1:]
        return f"{error.filename}: {reason}" if error.filename is not None else reason
    if type(error).__name__ == "SafetensorError":
        reported = re.search(r"I/O error: (.+?) \(os error \d+\)", str(error))
        return reported[1][:1].lower() + reported[1][1:] if reported else None
    return None


def write_finished(path: str | Path, write: Callable[[Path], None]) -> None:
    """Write finished work, and if that fails, write it to a temporary folder instead, so that it is not lost.

    Args:
        path: new file or folder.
        write: function that writes to the path that it is given.

    Raises:
        WorkError: if writing to ``path`` failed; the message names the other folder.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    except Exception as error:
        reason = disk_reason(error)
        if reason is None:
            raise
        kept = Path(tempfile.mkdtemp(prefix="crosslens-")) / path.name
        try:
            write(kept)
        except Exception as second:
            shutil.rmtree(kept.parent, ignore_errors=True)
            raise WorkError(f"{path} cannot be written: {reason}", hint=f"{disk_reason(second)} there, too") from error
        raise WorkError(
            f"{path} cannot be written: {reason}", hint=f"the work is done; its output is in {kept}"
        ) from None


def write_folder(path: str | Path, write: Callable[[Path], None]) -> None:
    """Write finished work to a new folder, atomically; where that fails, as `write_finished`."""

    def new(target: Path) -> None:
        with new_folder(target) as folder:
            write(folder)

    write_finished(refuse_existing(path), new)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """Create a folder atomically: it appears when the block succeeds, and not at all if the block raises.

    Raises:
        RequestError: if ``path`` already exists.
    """
    path = refuse_existing(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield partial
        os.chmod(partial, 0o777 & ~_umask())
        if path.is_dir():
            path.rmdir()
        os.replace(partial, path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
