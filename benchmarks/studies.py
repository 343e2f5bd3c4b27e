"""A study of 28 runs on two cores, beside the same cells as commands of their own in a shell loop.

    python benchmarks/studies.py

Two tasks on the laboratory, seven conditions, two seeds, each evaluated on four languages. Wall seconds: one after the
other in the loop, as a shell does it, each with the threads that torch takes; two workers in the study.
"""

import tempfile
from pathlib import Path

from ratios import command, note, row

from crosslens.corpora.catalogue import cache_folder
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.lab_encoder import pretrained_laboratory
from crosslens.runs.store import Store

TASKS = ("pos", "parsing")
CONDITIONS = ("none", "1-2", "3-4", "5-6", "1-3", "4-6", "all")
SEEDS = (1, 2)
WORKERS = 2


def main():
    encoder = pretrained_laboratory(find_laboratory(), cache_folder().parent / "demo")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "study.yaml").write_text(
            f"name: bench\nencoder: lab:good\ndata: lab\ntasks: [{', '.join(TASKS)}]\n"
            f"conditions: [{', '.join(CONDITIONS)}]\nseeds: [{', '.join(map(str, SEEDS))}]\n"
        )
        run = ("-m", "crosslens", "run", work / "study.yaml", "--out", work / "store", "--workers", WORKERS)
        together, again = (command(*run) for _ in range(2))
        alone = 0.0
        tests = ",".join(f"lab/{language}:test[:200]" for language in ("src", "adj", "gen", "sov"))
        for task in TASKS:
            for layers in CONDITIONS:
                for seed in SEEDS:
                    ablation = [] if layers == "none" else ["--random-init", layers]
                    alone += command(
                        "-m",
                        "crosslens",
                        "finetune",
                        task,
                        encoder,
                        *ablation,
                        "--train",
                        "lab/src",
                        "--test",
                        tests,
                        "--recipe",
                        "lab",
                        "--seed",
                        seed,
                        "--out",
                        work / f"{task}-{layers}-{seed}",
                    )
        store = Store(work / "store")
        trained = sum(store.describe(run)["facts"]["seconds"] for run in store.ids())
        what = f"a study of {len(store.ids())} runs, {WORKERS} workers"
        row(what, "wall seconds", [together], beside=[alone], peer="a shell loop", goal="<= 0.5")
        row("the same study again, all done", "wall seconds", [again], beside=[alone], peer="a shell loop")
        note(f"study: of {WORKERS} x {together:.0f} s, {trained:.0f} s are training")


if __name__ == "__main__":
    main()
