"""Variables of the environment, and the heap of the process."""

import ctypes

import pytest

from crosslens import heap
from crosslens.environment import offline, switch


@pytest.mark.parametrize(("text", "value"), [(None, None), ("", False), ("0", False), ("Off", False), ("1", True)])
def test_a_switch_is_on_off_or_not_set(text, value, monkeypatch):
    for name in ("CROSSLENS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    if text is not None:
        monkeypatch.setenv("CROSSLENS_OFFLINE", text)
    assert switch("CROSSLENS_OFFLINE") is value
    assert offline() is bool(value)


def test_the_heap_is_released_where_the_library_can(monkeypatch):
    called = []
    monkeypatch.setattr(heap, "_malloc_trim", lambda: called.append)
    heap.release_heap()
    assert called == [0]
    monkeypatch.undo()
    heap.release_heap()
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    heap._malloc_trim.cache_clear()
    assert heap._malloc_trim() is None
    heap.release_heap()
    heap._malloc_trim.cache_clear()
