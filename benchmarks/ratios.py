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

HEAD = (
    "| work | measured in | crosslens | beside it | ratio | goal | met | of the product rate |\n"
    "|---|---|--:|--:|--:|--:|---|--:|"
)
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


def row(work, unit, ours, *, beside=None, peer="", goal="", of="ratio", share=None):
    """Print a row of medians.

    Args:
        work: what was done.
        unit: of the figures.
        ours: a figure for each turn.
        beside: the peer's, in the same turns; the ratio is ours to theirs, and stands with its range over the turns.
        peer: its name.
        goal: such as ``>= 2``.
        of: what the goal is of: the ``ratio`` or our own ``figure``.
        share: of `product_rate` that the products of the encoder's layers reached over the whole work.
    """
    figure = statistics.median(ours)
    ratio, told = None, ""
    if beside is not None:
        ratio = figure / statistics.median(beside)
        turns = [one / other for one, other in zip(ours, beside, strict=True)]
        told = f"**{ratio:.2f}**" + (f" ({min(turns):.2f} to {max(turns):.2f})" if len(turns) > 1 else "")
    its = f"{peer}: {_number(statistics.median(beside))}" if beside is not None else ""
    reached = "" if share is None else f"{100 * share:.0f} %"
    cells = (work, unit, _number(figure), its, told, goal, _met(goal, ratio, figure, of), reached)
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


def product_rate(encoder, dtype="float32", *, rows=1024, least=0.5):
    """Multiplications and additions a CPU second of products as wide as an encoder's feed-forward part, in one thread.

    Of the libraries that a product of float32 can be computed with here, the faster one counts.
    """
    import torch

    from crosslens.encoders import matmul

    inner = getattr(encoder.model.config, "intermediate_size", 4 * encoder.width)
    states = torch.randn(rows, encoder.width).to(getattr(torch, dtype))
    weight = torch.nn.Parameter(torch.randn(inner, encoder.width).to(states.dtype))
    rates = []
    for chosen in ("0", "1") if dtype == "float32" else ("0",):
        os.environ["CROSSLENS_ONEDNN"] = chosen
        with matmul.inference():
            matmul.linear(states, weight)
            start, count = time.process_time(), 0
            while time.process_time() - start < least:
                matmul.linear(states, weight)
                count += 1
            rates.append(2 * states.numel() * inner * count / (time.process_time() - start))
        del os.environ["CROSSLENS_ONEDNN"]
    return max(rates)


def products(encoder):
    """Multiplications and additions of a subword's forward pass in the matrices of the layers, without attention."""
    return 2 * sum(p.numel() for layer in encoder.layers for p in layer.parameters() if p.ndim == 2)


def machine():
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    words = {word for line in lines if line.startswith("flags") for word in line.split()}
    known = {"amx_bf16": "AMX", "avx512_bf16": "AVX-512 bfloat16", "avx512f": "AVX-512", "avx2": "AVX2"}
    kind = next((name for flag, name in known.items() if flag in words), "")
    model = " with ".join(filter(None, (next(models, platform.machine()), kind)))
    packages = ("crosslens", "torch", "transformers")
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    return f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}; one thread unless said"


if __name__ == "__main__":
    print(f"{machine()}\n\n{HEAD}")
