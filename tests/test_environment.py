"""Variables of the environment, and the heap of the process."""

import ctypes
import gc
import subprocess
import sys

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


def test_all_objects_are_searched_rarely_and_new_ones_as_before():
    before = gc.get_threshold()
    try:
        gc.set_threshold(700, 10, 10)
        heap.collect_rarely()
        assert gc.get_threshold() == (700, 10, 200)
    finally:
        gc.set_threshold(*before)


def test_a_command_begins_with_that():
    """The objects of torch and transformers stay, and Python would search them ten times while they are imported."""
    script = (
        "import atexit, gc, sys; from crosslens.__main__ import main; sys.argv = ['crosslens', '--version'];"
        "atexit.register(lambda: print(gc.get_threshold())); main()"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1].endswith(", 200)")
