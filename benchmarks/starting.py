"""How long it takes until something is seen: `crosslens --help`, and the demonstration with nothing kept from before.

python benchmarks/starting.py
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ratios import row, seconds

TURNS = 7


def run(*words, **more):
    subprocess.run([sys.executable, *words], check=True, capture_output=True, **more)


def wall(work):
    return seconds(work, time.perf_counter)[0]


def main():
    run("-m", "crosslens", "--help")  # its files are in memory from now on
    pairs = [(wall(lambda: run("-m", "crosslens", "--help")), wall(lambda: run("-c", "pass"))) for _ in range(TURNS)]
    ours, bare = zip(*pairs, strict=True)
    row("`crosslens --help`", "seconds", ours, beside=bare, peer="python -c pass", goal="< 0.3", of="figure")
    with tempfile.TemporaryDirectory() as folder:
        fresh = {**os.environ, "XDG_CACHE_HOME": folder}
        fresh.pop("OMP_NUM_THREADS", None)
        took = wall(lambda: run("-m", "crosslens", "demo", "--out", str(Path(folder) / "demo"), env=fresh))
        row("`crosslens demo`, all cores", "seconds", [took], goal="< 180", of="figure")
        again = wall(lambda: run("-m", "crosslens", "demo", "--out", str(Path(folder) / "demo"), env=fresh))
        row("the same again", "seconds", [again])


if __name__ == "__main__":
    main()
