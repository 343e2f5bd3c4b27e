"""Exhausted memory, which every library reports in another way."""

import re

try:
    import resource
except ImportError:  # Windows has no memory limits of this kind
    resource = None

_REPORTED = re.compile(
    "out of memory|can(no|'|)t allocate memory|failed to map segment|bad_alloc|could not create a primitive"
)
"""What torch, oneDNN, the C++ library and the loader of shared libraries report, in lower case."""

MEGABYTE = 1 << 20


def is_exhausted(error: BaseException) -> bool:
    """Whether an error, or an error that led to it, means that memory ran out.

    >>> is_exhausted(RuntimeError("DefaultCPUAllocator: can't allocate memory")), is_exhausted(RuntimeError("1 != 2"))
    (True, False)
    """
    reported = isinstance(error, ImportError | OSError | RuntimeError) and _REPORTED.search(str(error).lower())
    if isinstance(error, MemoryError) or reported:
        return True
    return error.__cause__ is not None and is_exhausted(error.__cause__)  # NumPy explains errors of its import


def advice() -> str:
    """Say what helps: a higher limit, where this process has one (``ulimit -v``), or a smaller batch."""
    limit = -1 if resource is None else resource.getrlimit(resource.RLIMIT_AS)[0]
    if resource is None or limit == resource.RLIM_INFINITY:
        return "use a smaller batch"
    return f"raise the memory limit of this shell, {limit // MEGABYTE} MB (ulimit -v), or use a smaller batch"
