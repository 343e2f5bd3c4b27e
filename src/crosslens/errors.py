"""What can be caught.

    CrosslensError                     every error that crosslens raises on purpose
    ├── RequestError                   asked wrongly: mend the request (the command line exits with 2)
    │   ├── DataError                  a corpus: where it was looked for, or the file and line that cannot be read
    │   └── EncoderError               an encoder: its name, its checkpoint, its layers
    └── WorkError                      the work failed: the request was fine (the command line exits with 1)
        ├── TrainingError              a training run: a loss that is not a number, a checkpoint that does not fit
        ├── DownloadError              the network, or a file that is not what was published
        └── StoreError                 a folder of runs that cannot be written, or a record in it that is damaged

Every message is one sentence that says what and where; `hint` says how to mend it.
"""

import difflib
from collections.abc import Iterable


class CrosslensError(Exception):
    """The root of the tree above.

    Args:
        message: one sentence: what is wrong, and where.
        hint: how to mend it, e.g. ``did you mean 'ud/fr_pud'?``.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class RequestError(CrosslensError):
    """What was asked for cannot be done as it was asked."""


class WorkError(CrosslensError):
    """What was asked for is fine, but doing it failed."""


class DataError(RequestError):
    """A corpus that is missing or that cannot be read.

    Args:
        message: the reason, in one sentence.
        file: the file, where there is one.
        line: the line in that file, counted from 1.
        hint: how to mend it.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, hint: str | None = None
    ) -> None:
        place = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(place + message, hint=hint)
        self.file = file
        self.line = line


class EncoderError(RequestError):
    """An encoder that cannot be loaded, or that has no such part."""


class TrainingError(WorkError):
    """A training run that cannot go on."""


class DownloadError(WorkError):
    """A download that did not arrive whole."""


class StoreError(WorkError):
    """A folder of runs that cannot be written to, or something in it that is damaged."""


def suggest(wrong: str, known: Iterable[str]) -> str:
    """A hint for a name that is not known: the nearest known ones, or all of them when none is near."""
    names = sorted(known)
    near = difflib.get_close_matches(wrong, names, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(name) for name in near) + "?"
    return "known: " + ", ".join(names[:20]) + (", …" if len(names) > 20 else "") if names else "none is known"
