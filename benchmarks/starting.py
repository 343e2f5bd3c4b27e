"""How long it takes until something is seen: `crosslens --help`, and the demonstration with nothing kept from before.

python benchmarks/starting.py
"""

import tempfile
from pathlib import Path

from ratios import command, row

TURNS = 7


def main():
    command("-m", "crosslens", "--help")  # its files are in memory from now on
    pairs = [(command("-m", "crosslens", "--help"), command("-c", "pass")) for _ in range(TURNS)]
    ours, bare = zip(*pairs, strict=True)
    row("`crosslens --help`", "seconds", ours, beside=bare, peer="python -c pass", goal="< 0.3", of="figure")
    with tempfile.TemporaryDirectory() as folder:
        demo = ("-m", "crosslens", "demo", "--out", Path(folder) / "demo")
        took, again = (command(*demo, XDG_CACHE_HOME=folder) for _ in range(2))
        row("`crosslens demo`, all cores", "seconds", [took], goal="< 180", of="figure")
        row("the same again", "seconds", [again])


if __name__ == "__main__":
    main()
