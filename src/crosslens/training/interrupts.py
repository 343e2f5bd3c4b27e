"""Ctrl-C between two steps of a training, where its state can be saved."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def held_interrupts() -> Iterator[Callable[[], None]]:
    """Hold back Ctrl-C within the block, and yield a function that raises it, for moments when a state can be saved.

    A second Ctrl-C does not wait. Outside the main thread, and where a program handles SIGINT itself, nothing changes.
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
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield release
        return
    signal.signal(signal.SIGINT, hold)
    try:
        yield release
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    release()
