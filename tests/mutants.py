"""How many small mistakes in the source the tests notice: a seeded sample of mutmut's, module by module.

    make mutants
    python tests/mutants.py --each 20 --seed 1 --least 80

mutmut writes every mistake that it knows (another operator, another number, an argument left out) into a copy of the
source, under ``mutants/``, and runs the tests that call the function; pyproject.toml names the modules and the tests.
All of them would take a day, so this takes so many of each module, by chance. It exits with 1 where a module's share of
noticed ones is below ``--least``.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

MODULES = {
    "reinit": ("encoders.reinit",),
    "loop": ("training.loop",),
    "finetune": ("training.finetune",),
    "scores": ("scores",),
    "probes": ("probes",),
    "alignment": ("alignment",),
    "identity": ("digests", "training.identity"),
    "store": ("runs.store",),
    "cells": ("results.cells",),
}
"""Name in the table -> modules and packages."""

QUICK = "crosslens.training.identity.x_run_id__mutmut_*"
"""Running these writes all mutants, and notes which test calls what."""

FOLDER = Path("mutants")
SURVIVED = 0
"""Exit status of tests that pass; others are those of tests that fail or do not end, and `BROKEN`."""

BROKEN = {3: "had an internal error", 4: "was called wrongly"}
"""Exit status of pytest when it has run no test -> why."""


def mutmut(names: list[str]) -> None:
    """Run the tests on these mutants, one at a time."""
    program = Path(sys.executable).with_name("mutmut")
    done = subprocess.run([program, "run", "--max-children", "1", *names], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}\nmutmut failed: do the tests pass as they are?")


def outcomes() -> dict[str, int | None]:
    """Every mutant, and the exit status of its tests."""
    files = sorted(FOLDER.rglob("*.py.meta"))
    return {
        name: status
        for file in files
        for name, status in json.loads(file.read_text("utf-8"))["exit_code_by_key"].items()
    }


def sample(names: list[str], *, each: int, seed: int) -> dict[str, list[str]]:
    """So many mutants of each row of the table."""
    chosen = {}
    for row, modules in MODULES.items():
        own = sorted(name for name in names if name.startswith(tuple(f"crosslens.{module}." for module in modules)))
        chosen[row] = random.Random(f"{seed} {row}").sample(own, min(each, len(own)))
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--each", type=int, default=20, help="mutants of each module [default: 20]")
    parser.add_argument("--seed", type=int, default=1, help="of the sample [default: 1]")
    parser.add_argument("--least", type=float, default=0.0, help="share in percent below which it fails [default: 0]")
    parser.add_argument("--only", nargs="+", default=list(MODULES), choices=list(MODULES), help="rows of the table")
    asked = parser.parse_args()
    mutmut([QUICK])
    chosen = {
        row: names
        for row, names in sample(list(outcomes()), each=asked.each, seed=asked.seed).items()
        if row in asked.only
    }
    known = json.loads((FOLDER / "mutmut-stats.json").read_text("utf-8"))["tests_by_mangled_function_name"]
    # What no test calls is not noticed, and mutmut does not run it.
    mutmut([name for names in chosen.values() for name in names if known.get(name.partition("__mutmut_")[0])])
    after = outcomes()
    for name in (name for names in chosen.values() for name in names):
        if why := BROKEN.get(after[name]):
            sys.exit(f"{name}: pytest {why}, so nothing was measured")
    low = False
    print("| module | mutants | sampled | noticed | % |\n| --- | ---: | ---: | ---: | ---: |")
    for row, names in chosen.items():
        missed = [name for name in names if after[name] in (SURVIVED, None)]
        share = 100 * (1 - len(missed) / len(names))
        low = low or share < asked.least
        own = sum(name.startswith(tuple(f"crosslens.{module}." for module in MODULES[row])) for name in after)
        print(f"| {row} | {own} | {len(names)} | {len(names) - len(missed)} | {share:.0f} |")
        print("\n".join(f"{row}: {name}" for name in missed), file=sys.stderr)
    return int(low)


if __name__ == "__main__":
    sys.exit(main())
