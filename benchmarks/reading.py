"""Reading CoNLL-U, with every check, beside the `conllu` library, which checks next to nothing.

python benchmarks/reading.py FILE.conllu...
"""

import sys
from pathlib import Path

import conllu as library
from ratios import PER_SECOND, note, row, seconds

from crosslens.data import conllu

TURNS = 7


def main():
    paths = sys.argv[1:]
    ours, its = [], []
    for _ in range(TURNS):
        took, mine = seconds(lambda: [conllu.read(path) for path in paths])
        count = sum(map(len, mine))
        del mine  # or the other side works with a fuller memory
        ours.append(count / took)
        took, theirs = seconds(lambda: [library.parse(Path(path).read_text(encoding="utf-8")) for path in paths])
        its.append(count / took)
        del theirs
    row(f"reading CoNLL-U, {count:,} sentences", PER_SECOND, ours, beside=its, peer="conllu", goal=">= 5")
    note(f"reading: {', '.join(Path(path).name for path in paths)}")


if __name__ == "__main__":
    main()
