"""The exceptions of crosslens.

    CrosslensError                     every error that crosslens raises on purpose
    ├── RequestError                   an invalid request: correct it (the command line exits with 2)
    │   ├── DataError                  a missing or malformed corpus, with file and line where known
    │   └── EncoderError               an unknown encoder, an unreadable checkpoint, or missing layers
    └── WorkError                      a valid request whose work failed (the command line exits with 1)
        ├── TrainingError              a training run, e.g. a NaN loss or a checkpoint that does not match
        ├── DownloadError              a network failure, or a file that differs from the published one
        └── StoreError                 a store of runs that is not writable or holds a damaged record

Every message is one sentence: what is wrong, and where. `hint` says what to do.
"""

import difflib
import sys
import warnings
from collections.abc import Collection, Iterable
from operator import index
from pathlib import Path


class CrosslensError(Exception):
    """Base class of all crosslens errors.

    Args:
        message: one sentence: what is wrong, and where.
        hint: what to do, e.g. ``did you mean 'ud/fr_pud'?``.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class RequestError(CrosslensError):
    """The request is invalid and has to be corrected."""


class WorkError(CrosslensError):
    """The request is valid, but the work failed."""


class DataError(RequestError):
    """A missing or malformed corpus.

    Args:
        message: what is wrong, in one sentence.
        file: path of the file, if known.
        line: line number in that file, from 1.
        hint: what to do.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, hint: str | None = None
    ) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message, hint=hint)
        self.file = file
        self.line = line


class EncoderError(RequestError):
    """An encoder that cannot be loaded, or lacks the requested part."""


class TrainingError(WorkError):
    """A training run that cannot continue."""


class DownloadError(WorkError):
    """A download that failed or is incomplete."""


class StoreError(WorkError):
    """A store of runs that is not writable, or holds damaged files."""


class CrosslensWarning(UserWarning):
    """A result that may not be what was wanted; the command line prints its message as one line."""


def warn(message: str) -> None:
    """Issue a `CrosslensWarning` at the line outside crosslens that called it, however deep the call is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "crosslens":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, CrosslensWarning, stacklevel=level)


def suggest(wrong: object, known: Iterable[str], *, otherwise: str | None = None) -> str:
    """Suggest the known names closest to an unknown one, whatever their case, or list known names if none is close.

    Args:
        wrong: the unknown name; nothing is close to what is not text.
        otherwise: hint if none is close, instead of the list.

    >>> suggest("ud/fr_pdu", ["ud/fr_pud", "ud/en_ewt"])
    "did you mean 'ud/fr_pud'?"
    >>> suggest("POS", ["ner", "pos"])
    "did you mean 'pos'?"
    >>> suggest("x", ["spearman", "pearson"])
    'known: pearson, spearman'
    >>> suggest("x", ["spearman", "pearson"], otherwise="give a correlation")
    'give a correlation'
    """
    names = sorted(known)
    by_folded: dict[str, list[str]] = {}
    for name in names:
        by_folded.setdefault(name.casefold(), []).append(name)
    folded = difflib.get_close_matches(wrong.casefold() if isinstance(wrong, str) else "", by_folded, n=3, cutoff=0.6)
    near = [name for fold in folded for name in by_folded[fold]][:3]
    if near:
        return "did you mean " + " or ".join(repr(name) for name in near) + "?"
    if otherwise is not None:
        return otherwise
    return "known: " + ", ".join(names[:20]) + (", …" if len(names) > 20 else "") if names else "none is known"


def require_known(name: str, known: Collection[str], problem: str, *, error: type[RequestError] = RequestError) -> None:
    """Refuse the name of an alternative that does not exist.

    Args:
        known: the alternatives.
        problem: beginning of the error, which the name ends: ``unknown pooling``.
        error: class of the error.

    Raises:
        RequestError: if the name is not known.

    >>> require_known("spearmann", ["spearman", "pearson"], "unknown coefficient")
    Traceback (most recent call last):
    crosslens.errors.RequestError: unknown coefficient 'spearmann' (did you mean 'spearman' or 'pearson'?)
    """
    if name not in known:
        raise error(f"{problem} {name!r}", hint=suggest(name, known))


def require_integer(value: object, name: str, *, least: int, most: int | None = None) -> int:
    """Return an integer of Python or NumPy as one of Python, and refuse everything else, such as ``"3"`` and ``True``.

    Args:
        name: name of the argument, for the error.
        least: smallest valid value.
        most: largest valid value; None: there is none.

    Raises:
        RequestError: for another value.

    >>> require_integer("3", "resamples", least=1)
    Traceback (most recent call last):
    crosslens.errors.RequestError: resamples='3' is not an integer of at least 1
    """
    try:
        number = None if isinstance(value, bool) else index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise RequestError(f"{name}={value!r:.60} is not an integer {bounds}")
    return number


def suggest_beside(path: str | Path, *, otherwise: str) -> str:
    """Suggest the files and folders beside a missing one whose names are closest to its name."""
    path = Path(path)
    return suggest(path.name, (entry.name for entry in path.parent.glob("*")), otherwise=otherwise)
