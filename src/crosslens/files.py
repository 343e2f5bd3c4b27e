"""Atomic writes: to a temporary file in the same folder, synced, then renamed."""

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import chain, count
from pathlib import Path

from crosslens.errors import RequestError, WorkError

try:
    import fcntl
except ImportError:  # Windows: what killed processes left stays
    fcntl = None

UNFINISHED = ".unfinished"
"""Ending of the hidden files and folders that are renamed when they are complete."""


OURS = (
    "results.csv",
    "results.parquet",
    "run.json",
    "crosslens.json",
    "pretraining.json",
    "adaptation.json",
    "tables.tex",
    "atlas.json",
    "pretrain.yaml",
)
"""Files of which a folder has at least one if crosslens wrote it."""

_REPLACEABLE: ContextVar[tuple[frozenset[Path], Callable[[str], None]]] = ContextVar(
    "replaceable", default=(frozenset(), lambda _: None)
)
"""The outputs that may be replaced, as the user asked for, and what is called with a line about files that are kept."""


def allow_overwriting(*paths: str | Path, on_kept: Callable[[str], None] = lambda _: None) -> Callable[[], None]:
    """Let files or folders be replaced as soon as their new content is complete; return a function that ends this.

    Folders are replaced only if crosslens wrote them (`OURS`). Until the new content is complete, the old one stays.
    Files of the old folder that the new one does not have, such as notes or a model, are moved to a folder beside it,
    and ``on_kept`` is called with a line that names it.
    """
    token = _REPLACEABLE.set((frozenset(map(Path, paths)), on_kept))
    return lambda: _REPLACEABLE.reset(token)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file atomically."""
    path = Path(path)
    with _unfinished(path, _new_file) as partial:
        with open(partial, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)


def write_text(path: str | Path, content: str) -> None:
    """Write a UTF-8 text file atomically."""
    write_bytes(path, content.encode())


def refuse_existing(path: str | Path, *, what: str | None = None) -> Path:
    """Check that a path does not exist yet, is an empty folder or may be overwritten, and return it.

    Args:
        what: what the path is for, such as an option of the command line, for errors; None: a path given in Python.

    Raises:
        RequestError: if the path exists, or nothing can be written there; for the current folder, which no other can
            replace while a shell or a program is in it.
    """
    path = Path(path)
    place = f"{what}: {path}" if what else str(path)
    try:
        if path.is_dir() and Path.cwd().is_relative_to(path.resolve()):
            raise RequestError(f"{place} is the current folder, or has it inside", hint="name a new folder")
        if not _is_empty(path) and (path.exists() or path.is_symlink()):
            if path not in _REPLACEABLE.get()[0]:
                ways = "choose another path, remove it, or add --overwrite"
                hint = ways if what in ("--out", "--csv") else "choose another path, or remove it"
                raise RequestError(f"{place} exists already", hint=hint)
            if path.is_symlink() or (path.is_dir() and not any((path / name).exists() for name in OURS)):
                raise RequestError(
                    f"--overwrite: {path} was not written by crosslens", hint="choose another path, or remove it first"
                )
        refuse_unwritable(path.parent)
    except OSError as error:
        raise RequestError(f"{place}: {error.strerror}", hint="choose another path") from None
    return path


def _is_empty(path: Path) -> bool:
    """Whether a path is an empty folder."""
    return path.is_dir() and not any(path.iterdir())


def refuse_inside(path: str | Path | None, out: str | Path | None, *, what: str) -> None:
    """Check that a second new folder has a place of its own: not that of the results, and neither inside the other.

    Nothing is checked if either is None.

    Raises:
        RequestError: if both are one folder, or one is inside the other, so that only the first could be written.
    """
    if path is None or out is None:
        return
    first, second = Path(path).resolve(), Path(out).resolve()
    if first.is_relative_to(second) or second.is_relative_to(first):
        raise RequestError(
            f"{what}: {path} and the folder of the results (--out {out}) are the same, or one is inside the other",
            hint=f"choose another folder for {what}",
        )


def refuse_unwritable(folder: Path) -> None:
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

    Libraries in Rust (safetensors, tokenizers) raise errors of their own, with the system's reason in the text.

    >>> disk_reason(OSError(28, "No space left on device", "out/model"))
    'out/model: no space left on device'
    """
    if isinstance(error, OSError):
        reason = (error.strerror or str(error) or type(error).__name__).strip()
        reason = reason[:1].lower() + reason[1:]
        name = error.filename2 or error.filename  # a file that is renamed has its final name second
        return f"{name}: {reason}" if name is not None else reason
    reported = re.search(r"[^:\s][^:]* (?=\(os error \d+\))", str(error))
    return reported[0][:1].lower() + reported[0][1:].strip() if reported else None


def is_refusal(error: BaseException) -> bool:
    """Whether the operating system refused to read a file, which is then unread rather than damaged.

    >>> is_refusal(OSError(5, "Input/output error")), is_refusal(OSError("invalid header"))
    (True, False)
    """
    absent = isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError)
    # Libraries that seek to where a damaged file points get EINVAL.
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL) and not absent


def write_finished(path: str | Path, write: Callable[[Path], None]) -> None:
    """Write finished work, and if that fails, write it to a temporary folder instead, so that it is not lost.

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
        reason = reason.removeprefix(f"{path}: ")
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
        OSError: if another process has made it meanwhile, or nothing can be written there.
    """
    path = refuse_existing(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _unfinished(path, tempfile.mkdtemp) as partial:
        yield partial
        for entry in (partial, *partial.rglob("*")):  # safetensors lets only the owner read its files
            if not entry.is_symlink():
                os.chmod(entry, (0o777 if entry.is_dir() else 0o666) & ~_umask())
        _sync(partial)
        _replace_folder(partial, path)


def _replace_folder(complete: Path, path: Path) -> None:
    """Rename a complete folder to its path; what may be overwritten there is set aside first, and removed at the end.

    Files that the complete folder does not have stay in a folder beside it.
    """
    if not path.exists():
        os.replace(complete, path)
        return
    if not _is_empty(path) and path not in _REPLACEABLE.get()[0]:
        raise FileExistsError(errno.EEXIST, "another process has written it meanwhile", str(path))
    others = [name for name in _files_below(path) if not os.path.lexists(complete / name)]
    with temporary_folder(path) as temporary:
        aside = _free(path.with_name(f"{path.name}.before")) if others else temporary / "before"
        os.replace(path, aside)
        try:
            os.replace(complete, path)
        except OSError:
            os.replace(aside, path)
            raise
    if others:
        _remove_all_but(others, aside)
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        _REPLACEABLE.get()[1](f"kept: {others[0]}{more} of the old {path}, in {aside}")


def _files_below(folder: Path) -> list[Path]:
    """Files and links below a folder, relative to it, sorted."""
    return sorted(entry.relative_to(folder) for entry in folder.rglob("*") if entry.is_symlink() or not entry.is_dir())


def _remove_all_but(names: list[Path], folder: Path) -> None:
    """Remove the other files below a folder, and the folders that are then empty."""
    for name in set(_files_below(folder)) - set(names):
        (folder / name).unlink()
    for entry in sorted(folder.rglob("*"), reverse=True):  # those inside come before their folder
        if entry.is_dir() and not entry.is_symlink() and not any(entry.iterdir()):
            entry.rmdir()


def _free(path: Path) -> Path:
    """A path that does not exist yet: ``path``, or ``path.2``, ``path.3``, …"""
    numbered = (path.with_name(f"{path.name}.{number}") for number in count(2))
    return next(each for each in chain((path,), numbered) if not os.path.lexists(each))


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Create a hidden folder beside a path for the work on it, and remove it when the block ends."""
    with _unfinished(path, tempfile.mkdtemp) as partial:
        yield partial


@contextmanager
def _unfinished(path: Path, make: Callable[..., str]) -> Iterator[Path]:
    """Create a hidden file or folder beside a path, and remove it in the end unless it was renamed.

    It is locked. The system releases the locks of a killed process, so that the next writer of the same path can tell
    what that process left behind, and removes it.
    """
    remove_abandoned(path)
    while True:
        partial = Path(make(dir=path.parent, prefix=f".{path.name}.", suffix=UNFINISHED))
        with suppress(BlockingIOError):  # another writer takes it for abandoned, because it was not locked yet
            lock = _lock(partial)
            if partial.exists():
                break
            _unlock(lock)
    try:
        yield partial
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None:  # streams do not say their file
            error.filename = str(path)
        raise
    finally:
        _remove(partial)
        _unlock(lock)


def remove_abandoned(path: Path) -> None:
    """Remove what killed processes left of their work on a path.

    It is renamed first: where locks exclude nobody, a process at work then fails, and publishes nothing in part.
    """
    with suppress(OSError):
        for entry in list(os.scandir(path.parent)):
            if entry.name.startswith(f".{path.name}.") and entry.name.endswith(UNFINISHED):
                with suppress(BlockingIOError):  # its writer is at work
                    lock = _lock(entry.path)
                    if lock is not None:
                        aside = f"{entry.path}.removed{UNFINISHED}"
                        os.replace(entry.path, aside)
                        _remove(Path(aside))
                        _unlock(lock)


def _lock(path: str | Path) -> int | None:
    """Lock a file or folder for this process; None where the system or the file system has no such locks.

    Raises:
        BlockingIOError: if another process holds the lock.
    """
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            raise
        return None
    return handle


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file or folder within the block, where the file system has locks.

    Raises:
        BlockingIOError: if another process holds it.
    """
    lock = _lock(path)
    try:
        yield
    finally:
        _unlock(lock)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of a file. Nothing is written, so that the file may be read-only or missing."""
    try:
        _unlock(_lock(path))
    except BlockingIOError:
        return True
    return False


def lock_reason(path: Path) -> str | None:
    """Return why the file system refuses to lock a file, which is created if missing; None if it does not."""
    if fcntl is None:
        return None
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(handle)
    except BlockingIOError:  # another process holds it
        return None
    except OSError as error:
        return disk_reason(error)
    return None


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _new_file(**place: object) -> str:
    handle, name = tempfile.mkstemp(**place)  # pyright: ignore
    os.close(handle)
    return name


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Wait until all files below a folder are on disk, so that a power cut leaves none of them empty."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as stream:
                os.fsync(stream.fileno())


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
