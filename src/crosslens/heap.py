"""The memory of the process: what the C library keeps for itself, and how often Python looks for garbage."""

import ctypes
import gc
from collections.abc import Callable
from functools import cache


def release_heap() -> None:
    """Return free memory of the heap to the operating system; without effect where the C library is not glibc.

    Buffers of many shapes leave free pages between the blocks that are in use, which glibc returns only when asked.
    Called between corpora, it costs some milliseconds.
    """
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


def collect_rarely() -> None:
    """Search all objects of the process for garbage less often than Python does; new objects are searched as ever.

    torch and transformers make a million objects that stay. Python would search them ten times while they are imported,
    which is a sixth of the time that most commands need to start.
    """
    new, newer, _ = gc.get_threshold()
    gc.set_threshold(new, newer, 200)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
