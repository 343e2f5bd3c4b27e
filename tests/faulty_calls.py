"""Commands run while a chosen call of the operating system fails, or kills them.

`Commands` starts one process that has imported everything, with ``faulty_calls.c`` preloaded, and forks it for each
command: libraries in C++ and Rust meet the faults as Python does.
"""

import contextlib
import ctypes
import errno
import functools
import importlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

KINDS = ("open", "create", "mkdir", "read", "write", "fsync", "rename")
WARM = (
    "altair",
    "httpcore._sync",
    "pyarrow.parquet",
    "safetensors.torch",
    "transformers.models.auto.modeling_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "vl_convert",
)
"""Modules that commands import late."""

SECONDS = 120


@dataclass(frozen=True)
class Fault:
    """The ``nth`` call of some kinds fails with an errno; with none, the process is killed there, or ``after`` seconds.

    A full disk stays full, and where nothing may be written nothing ever may: all later calls fail as well.
    """

    kinds: tuple[str, ...] = ()
    nth: int = 0
    reason: str | None = None
    after: float | None = None

    @property
    def lasting(self):
        return self.reason in ("ENOSPC", "EACCES") and "open" not in self.kinds

    def __str__(self):
        if self.after is not None:
            return f"SIGKILL after {self.after:.3f} s"
        return f"{self.reason or 'SIGKILL'} at {'/'.join(self.kinds)} {self.nth}"


@dataclass(frozen=True)
class Done:
    """A command that ended: status (-9 if killed), standard error, calls by kind, whether a fault was met; seconds."""

    status: int
    said: str
    calls: dict[str, int]
    met: bool
    seconds: float


class Commands:
    """Runs command lines in forks of one process, in which the shim is loaded."""

    def __init__(self, folder, *, prepare="", **environment):
        """``prepare`` is Python code that the process runs once it has imported everything."""
        library = folder / "faulty_calls.so"
        source = Path(__file__).with_suffix(".c")
        subprocess.run([shutil.which("cc"), "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        paths = [*sys.path, os.environ.get("PYTHONPATH", "")]
        self.log = folder / "said.txt"
        self.process = subprocess.Popen(
            [sys.executable, __file__, library, prepare],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "LD_PRELOAD": str(library),
                "PYTHONPATH": os.pathsep.join(filter(None, paths)),
                **environment,
            },
        )

    def __call__(self, words, folder, *, below=None, fault=None):
        """Run a command line in a folder; calls on paths below another folder [default: this one] count and fail."""
        asked = {
            "words": [*map(str, words)],
            "folder": str(folder),
            "below": str(below or folder),
            "fault": fault and [[KINDS.index(kind) for kind in fault.kinds], fault.nth, fault.reason, fault.lasting],
            "log": str(self.log),
        }
        after = fault and fault.after
        started = time.perf_counter()
        print(json.dumps([after, asked]), file=self.process.stdin, flush=True)
        status, calls, met = json.loads(self.process.stdout.readline())
        calls, met = dict(zip(KINDS, calls, strict=True)), bool(met) if after is None else status == -signal.SIGKILL
        return Done(status, self.log.read_text("utf-8"), calls, met, time.perf_counter() - started)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def _serve(library, prepare):
    """Run the commands of standard input, a line each; answer with status, calls by kind, and calls that failed."""
    import crosslens

    shim = ctypes.CDLL(library)
    shim.faults_calls.restype = shim.faults_failed.restype = ctypes.c_long
    names = [module.name for module in pkgutil.walk_packages(crosslens.__path__, "crosslens.")]
    for name in (*WARM, *names):
        if not name.endswith("__main__"):
            with contextlib.suppress(ImportError):  # an extra that is not installed
                importlib.import_module(name)
    exec(prepare)
    for line in sys.stdin:
        after, asked = json.loads(line)
        child = os.fork()
        if not child:
            _run(shim, **asked)
        timer = threading.Timer(after or SECONDS, os.kill, [child, signal.SIGKILL])
        timer.start()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        timer.cancel()
        timer.join()
        print(
            json.dumps([status, [shim.faults_calls(kind) for kind in range(len(KINDS))], shim.faults_failed()]),
            flush=True,
        )


def _run(shim, words, folder, below, fault, log):
    """The forked process: run one command line, and exit as the shell would see it."""
    from crosslens import cli

    os.chdir(folder)
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(0, 1)
    os.dup2(said, 2)
    sys.argv = ["crosslens", *words]
    kinds, nth, reason, lasting = fault or [[], 0, None, False]
    bits = functools.reduce(lambda bits, kind: bits | 1 << kind, kinds, 0)
    number = getattr(errno, reason) if reason else 0
    shim.faults_arm(below.encode(), bits, ctypes.c_long(nth), number, int(lasting))
    status = 1
    try:
        cli.main()
        status = 0
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
