"""Processes that are interrupted at a chosen write, so that no test has to hit the moment by the clock."""

import fnmatch
import json
import os
import signal
import sys
from multiprocessing import parent_process
from pathlib import Path

WRITES = ("tempfile.mkstemp", "tempfile.mkdtemp", "os.rename")
"""Audit events of an atomic write: a temporary file or folder is about to appear, or to get its name."""


def interrupt_at(count, pattern, *, events=WRITES, number=signal.SIGKILL, once=None, alone=False):
    """Send a signal just before this process's `count`-th write to a path that matches the pattern.

    A worker's SIGTERM goes to the program that started it, unless the worker is interrupted `alone`. Of several
    processes only the first to create the file `once` is interrupted.
    """
    left = count

    def hook(event, arguments):
        nonlocal left
        if event not in events or not fnmatch.fnmatch(str(arguments[event == "os.rename"]), pattern):
            return
        left -= 1
        if left:
            return
        if once is not None:
            try:
                os.close(os.open(once, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
        parent = parent_process() if number == signal.SIGTERM and not alone else None
        os.kill((parent and parent.pid) or os.getpid(), number)

    sys.addaudithook(hook)


def environment(folder, *arguments, **more):
    """Variables under which every new Python process calls `interrupt_at` first."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import json, os, interrupted\n"
        "arguments, more = json.loads(os.environ['INTERRUPTED'])\n"
        "interrupted.interrupt_at(*arguments, **more)\n"
    )
    path = [str(folder), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(path), "INTERRUPTED": json.dumps([arguments, more])}
