"""A study against its runs one by one, each as a command of its own: what is saved by doing shared work once."""

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import crosslens
from crosslens.catalogue import cache_folder
from crosslens.lab.presets import find_laboratory
from crosslens.studies.store import Store
from crosslens.training.laboratory import pretrained_laboratory

CONDITIONS = ("none", "1-2", "3-4", "5-6")
SEEDS = (1, 2)
STUDY = ("name: bench\nencoder: lab:good\ndata: lab\ntasks: [pos, parsing]\nconditions: [none, 1-2, 3-4, 5-6]\n"
         "seeds: [1, 2]\n")  # fmt: skip


def timed(*words):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "crosslens", *map(str, words)], check=True, capture_output=True)
    return time.perf_counter() - start


def main():
    encoder = pretrained_laboratory(find_laboratory(), cache_folder().parent / "demo")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "study.yaml").write_text(STUDY)
        together = timed("run", work / "study.yaml", "--out", work / "store", "--workers", 1)
        again = timed("run", work / "study.yaml", "--out", work / "store", "--workers", 1)
        alone = 0.0
        tests = ",".join(f"lab/{language}:test[:200]" for language in ("src", "adj", "gen", "sov"))
        for task in ("pos", "parsing"):
            for layers in CONDITIONS:
                for seed in SEEDS:
                    ablation = [] if layers == "none" else ["--random-init", layers]
                    alone += timed("finetune", task, encoder, *ablation, "--train", "lab/src", "--test", tests,
                                   "--recipe", "lab", "--seed", seed, "--device", "cpu",
                                   "--out", work / f"{task}-{layers}-{seed}")  # fmt: skip
        store = Store(work / "store")
        runs = len(store.ids())
        trained = sum(store.describe(run)["facts"]["seconds"] for run in store.ids())
        print(f"> crosslens {crosslens.__version__}; {runs} runs on four targets each; one process at a time\n")
        print("| way | seconds | of each run alone |\n|---|---|---|")
        for name, seconds in (
            ("each run a command of its own", alone),
            ("one study", together),
            ("the study again", again),
        ):
            print(f"| {name} | {seconds:.0f} | {seconds / alone:.2f} |")
        print(f"\nof the study's {together:.0f} s, {trained:.0f} s are training")
        print(shlex.join(["crosslens", "run", "study.yaml", "--workers", "1"]))


if __name__ == "__main__":
    main()
