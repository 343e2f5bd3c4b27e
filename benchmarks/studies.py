"""A study of 28 runs on two cores, beside the same cells as commands of their own in a shell loop.

    python benchmarks/studies.py [CONDITIONS SEEDS]

Two tasks on the laboratory, seven conditions, two seeds, each evaluated on four languages. Wall seconds: one after the
other in the loop, as a shell does it, each with the threads that torch takes; two workers in the study.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ratios import note, row

from crosslens.catalogue import cache_folder
from crosslens.lab.presets import find_laboratory
from crosslens.studies.store import Store
from crosslens.training.laboratory import pretrained_laboratory

TASKS = ("pos", "parsing")
CONDITIONS = ("none", "1-2", "3-4", "5-6", "1-3", "4-6", "all")
SEEDS = (1, 2)
WORKERS = 2


def timed(*words):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "crosslens", *map(str, words)], check=True, capture_output=True, env=environment
    )
    return time.perf_counter() - start


def main():
    conditions, seeds = (int(word) for word in sys.argv[1:] or (len(CONDITIONS), len(SEEDS)))
    conditions, seeds = CONDITIONS[:conditions], SEEDS[:seeds]
    encoder = pretrained_laboratory(find_laboratory(), cache_folder().parent / "demo")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "study.yaml").write_text(
            f"name: bench\nencoder: lab:good\ndata: lab\ntasks: [{', '.join(TASKS)}]\n"
            f"conditions: [{', '.join(conditions)}]\nseeds: [{', '.join(map(str, seeds))}]\n"
        )
        together = timed("run", work / "study.yaml", "--out", work / "store", "--workers", WORKERS)
        again = timed("run", work / "study.yaml", "--out", work / "store", "--workers", WORKERS)
        alone = 0.0
        tests = ",".join(f"lab/{language}:test[:200]" for language in ("src", "adj", "gen", "sov"))
        for task in TASKS:
            for layers in conditions:
                for seed in seeds:
                    ablation = [] if layers == "none" else ["--random-init", layers]
                    alone += timed(
                        "finetune", task, encoder, *ablation, "--train", "lab/src", "--test", tests,
                        "--recipe", "lab", "--seed", seed, "--out", work / f"{task}-{layers}-{seed}",
                    )  # fmt: skip
        store = Store(work / "store")
        trained = sum(store.describe(run)["facts"]["seconds"] for run in store.ids())
        what = f"a study of {len(store.ids())} runs, {WORKERS} workers"
        row(what, "wall seconds", [together], beside=[alone], peer="a shell loop", goal="<= 0.5")
        row("the same study again, all done", "wall seconds", [again], beside=[alone], peer="a shell loop")
        note(f"study: of {WORKERS} x {together:.0f} s, {trained:.0f} s are training")


if __name__ == "__main__":
    main()
