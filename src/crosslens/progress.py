"""How far long work is: one protocol for bars, logs and functions of the caller's.

Work goes through stages, such as reading and training. It reports how much of a stage is done, and says a line where
something is worth keeping. Whoever listens may raise `KeyboardInterrupt` to end the work: what can be resumed saves its
state first.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Update:
    """How far a stage is.

    Attributes:
        stage: what is being done.
        done: how much of it.
        total: of how much; None: nobody knows.
        unit: what is counted, in the plural: ``steps``, ``runs``, ``bytes``.
        note: a few words, such as the loss.
        line: a line worth keeping, where this is one; the other attributes are then those of the update before.
    """

    stage: str = ""
    done: int = 0
    total: int | None = None
    unit: str = ""
    note: str = ""
    line: str = ""

    @property
    def counted(self) -> str:
        """``300 of 900 steps``; nothing where nothing is counted."""
        done, total, unit = self.done, self.total, self.unit
        if unit == "bytes":
            done, total, unit = done // MEGABYTE, total and total // MEGABYTE, "MB"
        if total is None and not done:
            return ""
        return " ".join(f"{done:,}{'' if total is None else f' of {total:,}'} {unit}".split())

    def __str__(self) -> str:
        words = ", ".join(filter(None, (self.counted, self.note)))
        return self.line or ": ".join(filter(None, (self.stage, words)))


@runtime_checkable
class Progress(Protocol):
    """Whoever wants to know how far long work is."""

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Hear how far a stage is; see `Update`."""
        ...

    def say(self, text: str) -> None:
        """Hear a line worth keeping, such as the score of an epoch."""
        ...


class _Silent:
    """Hears everything and does nothing."""

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Do nothing."""

    def say(self, text: str) -> None:
        """Do nothing."""


SILENT: Progress = _Silent()
"""For work that nobody listens to."""


@dataclass(slots=True)
class _Callback:
    """Calls a function with every update."""

    function: Callable[[Update], object]
    latest: Update = field(default_factory=Update)

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        self.latest = Update(stage, done, total, unit, note)
        self.function(self.latest)

    def say(self, text: str) -> None:
        self.function(replace(self.latest, line=text))


def callback(function: Callable[[Update], object]) -> Progress:
    """A listener that calls a function with every `Update`, such as ``print``."""
    return _Callback(function)


Listener = Progress | Callable[[Update], object] | None
"""What every function that does long work takes as ``progress``: a `Progress`, a function of an `Update`, or nobody."""


def listening(progress: Listener) -> Progress:
    """A listener as a `Progress`, whatever the caller gave."""
    if progress is None:
        return SILENT
    return progress if isinstance(progress, Progress) else callback(progress)
