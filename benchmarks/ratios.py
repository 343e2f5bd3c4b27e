"""What a benchmark prints: rows of one table, each of what crosslens does beside what a peer does in the same run.

python benchmarks/ratios.py    (prints the machine, the versions and the table's head)
"""

import importlib.metadata
import operator
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

HEAD = "| work | measured in | crosslens | beside it | ratio | goal | met |\n|---|---|--:|--:|--:|--:|---|"
PER_SECOND = "sentences per CPU second"


def seconds(work, clock=time.process_time):
    """CPU seconds, and what the work returned."""
    start = clock()
    result = work()
    return clock() - start, result


def command(*words, **environment):
    """Wall seconds of a Python of its own, with the threads that torch takes."""
    usual = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    whole = [sys.executable, *map(str, words)]
    run = subprocess.run
    return seconds(lambda: run(whole, check=True, capture_output=True, env=usual | environment), time.perf_counter)[0]


def row(work, unit, ours, *, beside=None, peer="", goal="", of="ratio"):
    """Print a row of medians.

    Args:
        work: what was done.
        unit: of the figures.
        ours: a figure for each turn.
        beside: the peer's, in the same turns; the ratio is ours to theirs, and stands with its range over the turns.
        peer: its name.
        goal: such as ``>= 2``.
        of: what the goal is of: the ``ratio`` or our own ``figure``.
    """
    figure = statistics.median(ours)
    ratio, told = None, ""
    if beside is not None:
        ratio = figure / statistics.median(beside)
        turns = [one / other for one, other in zip(ours, beside, strict=True)]
        told = f"**{ratio:.2f}**" + (f" ({min(turns):.2f} to {max(turns):.2f})" if len(turns) > 1 else "")
    its = f"{peer}: {_number(statistics.median(beside))}" if beside is not None else ""
    cells = (work, unit, _number(figure), its, told, goal, _met(goal, ratio, figure, of))
    print("|", " | ".join(cells), "|", flush=True)


def note(text):
    """Print a line that is no row; it stands below the table."""
    print(f"- {text}", flush=True)


def _met(goal, ratio, figure, of):
    if not goal:
        return ""
    sign, number = goal.split()[:2]
    compare = {">=": operator.ge, "<=": operator.le, "<": operator.lt}[sign]
    return "yes" if compare(ratio if of == "ratio" else figure, float(number)) else "**no**"


def _number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def machine():
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    model = next(models, platform.machine())
    packages = ("crosslens", "torch", "transformers")
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}; one thread unless said"


if __name__ == "__main__":
    print(f"{machine()}\n\n{HEAD}")
