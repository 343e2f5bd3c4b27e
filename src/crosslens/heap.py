"""Free memory that the C library keeps for itself."""

import ctypes
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


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
