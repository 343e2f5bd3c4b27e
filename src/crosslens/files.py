"""Atomic writes: to a temporary file in the same folder, synced, then renamed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crosslens.errors import RequestError


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
        os.unlink(partial)
        raise


def write_text(path: str | Path, content: str) -> None:
    """Write a UTF-8 text file atomically."""
    write_bytes(path, content.encode())


def refuse_existing(path: str | Path, *, what: str = "--out") -> Path:
    """Check that a path does not exist yet, or is an empty folder, and return it.

    Raises:
        RequestError: if the path exists.
    """
    path = Path(path)
    if path.is_dir() and not any(path.iterdir()):
        return path
    if path.exists() or path.is_symlink():
        raise RequestError(f"{what}: {path} exists already", hint="choose another path, or remove it first")
    return path


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
