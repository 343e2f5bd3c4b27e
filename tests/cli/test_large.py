"""A million records: tables and page in a minute of computing and in 2 GiB."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from crosslens.results.record import COLUMNS, SCHEMA, Results
from made_records import score

TARGETS = ["en", *(f"{a}{b}" for a in "abcdefg" for b in "klmopqr")]
CONDITIONS = ["none", *(f"{low}-{high}" for low in range(1, 13) for high in range(low + 1, 13))][:50]


def many_records(seeds):
    """Scores of two tasks, 50 conditions and so many seeds on 50 targets, the runs in a random order."""
    chance = np.random.default_rng(1)
    runs = [(task, name, seed) for task in ("pos", "ner") for name in CONDITIONS for seed in range(seeds)]
    kept = {name: [] for name in COLUMNS}
    for place in chance.permutation(len(runs)):
        task, name, seed = runs[place]
        run = {"task": task, "metric": "accuracy" if task == "pos" else "f1", "run": f"{task}-{name}-{seed}"}
        record = replace(score("en", 0.0, seed=seed, condition=name), **run)
        for column in COLUMNS:
            kept[column] += [getattr(record, column)] * len(TARGETS)
    size = len(kept["task"])
    kept |= {"target": TARGETS * len(runs), "corpus": [f"ud/{target}" for target in TARGETS] * len(runs)}
    kept |= {"value": (70 + 10 * chance.random(size)).tolist(), "tags": ["{}"] * size}
    return Results(pa.table({name: pa.array(kept[name], SCHEMA.field(name).type) for name in COLUMNS}, schema=SCHEMA))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_million_records_are_tabulated_in_a_minute_and_2_gib(tmp_path):
    many_records(seeds=200).write(tmp_path / "large.parquet")
    for command in (["results"], ["report", "--out", tmp_path / "report"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "crosslens", *command, tmp_path / "large.parquet"], stdout=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        assert used.ru_maxrss < 2 * 2**20, command  # KiB
        assert used.ru_utime + used.ru_stime < 60, command
    assert (tmp_path / "report" / "by-target-pos.csv").is_file()
