"""Progress of long work: one protocol for progress bars, logs and callback functions.

Work has stages, such as reading and training. It reports the progress of each stage, and lines worth keeping in a log.
A listener may raise `KeyboardInterrupt` to stop the work; resumable work saves its state first.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Protocol, runtime_checkable

_SINGULAR = {"corpora": "corpus"}
"""Unit -> its singular, if that is not the unit without s."""


@dataclass(frozen=True, slots=True)
class Update:
    """Progress of one stage.

    >>> str(Update("fine-tuning", 300, 900, "steps", "loss 0.213"))
    'fine-tuning: 300 of 900 steps, loss 0.213'

    Attributes:
        done: number of completed units.
        total: total number of units; None if unknown.
        unit: name of the unit, in the plural: ``steps``, ``runs``, ``bytes``.
        note: a few words, such as the loss.
        line: a line for the log, or ""; with a line, the other attributes repeat the previous update.
    """

    stage: str = ""
    done: int = 0
    total: int | None = None
    unit: str = ""
    note: str = ""
    line: str = ""

    @property
    def counted(self) -> str:
        """Count as text, such as ``300 of 900 steps``; "" if nothing is counted."""
        done, total, unit = self.done, self.total, self.unit
        if unit == "bytes":
            size, unit = (1 << 20, "MB") if max(done, total or 0) >= 1 << 20 else (1 << 10, "kB")
            done, total = done // size, total and total // size
        if total is None and not done:
            return ""
        if (done if total is None else total) == 1:
            unit = _SINGULAR.get(unit, unit.removesuffix("s"))
        return " ".join(f"{done:,}{'' if total is None else f' of {total:,}'} {unit}".split())

    def __str__(self) -> str:
        words = ", ".join(filter(None, (self.counted, self.note)))
        return self.line or ": ".join(filter(None, (self.stage, words)))


@runtime_checkable
class Progress(Protocol):
    """Protocol of progress listeners."""

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Receive the progress of a stage; see `Update`."""
        ...

    def say(self, text: str) -> None:
        """Receive a line for the log, such as the score of an epoch."""
        ...


class _Silent:
    """A listener that ignores everything."""

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Do nothing."""

    def say(self, text: str) -> None:
        """Do nothing."""


SILENT: Progress = _Silent()
"""Listener that ignores everything."""


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
    """Return a listener that calls a function, such as ``print``, with every `Update`."""
    return _Callback(function)


Listener = Progress | Callable[[Update], object] | None
"""Type of every ``progress`` argument: a `Progress`, a function of an `Update`, or None."""


def listening(progress: Listener) -> Progress:
    """Convert any ``progress`` argument to a `Progress`."""
    if progress is None:
        return SILENT
    return progress if isinstance(progress, Progress) else callback(progress)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def terminable() -> Iterator[None]:
    """Treat SIGTERM, which clusters and shutdowns send, like Ctrl-C within the block.

    Outside the main thread, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_INTERRUPTS = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: _interrupt}
"""Signal -> its handler where it interrupts work."""


@contextmanager
def held_interrupts() -> Iterator[Callable[[], None]]:
    """Hold back interrupts within the block, and yield a function that raises them, for moments when a state is saved.

    Ctrl-C interrupts, and where the program is `terminable`, so does SIGTERM. A second interrupt does not wait. Outside
    the main thread, and for signals that a program handles itself, nothing changes.
    """
    held: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        if held:
            raise KeyboardInterrupt
        held.append(number)

    def release() -> None:
        if held:
            held.clear()
            raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread()
    handlers = {
        number: handler for number, handler in _INTERRUPTS.items() if ours and signal.getsignal(number) is handler
    }
    for number in handlers:
        signal.signal(number, hold)
    try:
        yield release
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    release()
