"""Memory that runs out, in the words of several libraries, is one sentence."""

import re
import subprocess
import sys

import pytest

from crosslens.memory_errors import advice, is_exhausted

resource = pytest.importorskip("resource")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried to"),
        RuntimeError("could not create a primitive"),
        RuntimeError("std::bad_alloc"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_errors_of_exhausted_memory(error):
    assert is_exhausted(error)


def test_an_error_that_memory_led_to():
    error = ImportError("you should not try to import numpy from its source directory")
    assert not is_exhausted(error)
    error.__cause__ = ImportError("libopenblas.so: failed to map segment from shared object")
    assert is_exhausted(error)


@pytest.mark.parametrize(
    "error", [ImportError("No module named 'x'"), OSError(28, "No space left on device"), ValueError("out of memory")]
)
def test_other_errors(error):
    assert not is_exhausted(error)


LIMITED = """
import resource, sys
from crosslens.__main__ import main
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv.pop(1)) << 20,) * 2)
main()
"""


@pytest.mark.parametrize("megabytes", [60, 90])
def test_a_limit_that_is_too_low_for_the_libraries_is_no_traceback(tmp_path, megabytes):
    """OpenBLAS ends the process itself, with a sentence of its own."""
    words = [sys.executable, "-c", LIMITED, str(megabytes), "score", "pos", "lab/src", "lab/src"]
    ended = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env={"OMP_NUM_THREADS": "1"})
    ours = (
        f"crosslens: out of memory\n  hint: raise the memory limit of this shell, {megabytes} MB (ulimit -v), or use a"
        " smaller batch\n"
    )
    assert ended.returncode == 1
    assert ended.stderr == ours or re.fullmatch("OpenBLAS error: Memory allocation still failed.*\n", ended.stderr)


def test_without_a_limit_a_smaller_batch_helps(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    assert advice() == "use a smaller batch"


def test_with_a_limit_its_size_is_given_in_megabytes(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (3 << 30, resource.RLIM_INFINITY))
    assert advice().startswith("raise the memory limit of this shell, 3072 MB (ulimit -v)")
