"""A million records: tables and page in a minute of computing and in 2 GiB; two million words in one."""

import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pytest

from crosslens.results.record import COLUMNS, SCHEMA, Results
from made_records import score

TARGETS = ["en", *(f"{a}{b}" for a in "abcdefg" for b in "klmopqr")]
CONDITIONS = ["none", *(f"{low}-{high}" for low in range(1, 13) for high in range(low + 1, 13))][:50]
KNOWN = {
    "study": "large",
    "split": "test",
    "n": 10_000,
    "encoder_digest": "e" * 64,
    "corpus_digest": "c" * 64,
    "train": "ud/en_ewt:train",
    "train_digest": "d" * 64,
    "recipe": "small",
    "settings": "limit=2000 precision=float32",
    "signature": "accuracy|words:all|data:cccccccccccc|crosslens:0.1.0",
}
"""What most records of a study hold besides scores; the digests are text of the real length."""


def many_records(seeds):
    """Scores of two tasks, 50 conditions and so many seeds on 50 targets, the runs in a random order."""
    chance = np.random.default_rng(1)
    runs = [(task, name, seed) for task in ("pos", "ner") for name in CONDITIONS for seed in range(seeds)]
    kept = {name: [] for name in COLUMNS}
    for place in chance.permutation(len(runs)):
        task, name, seed = runs[place]
        run = {"task": task, "metric": "accuracy" if task == "pos" else "f1", "run": f"{task}-{name}-{seed}"}
        digest = sha256(run["run"].encode()).hexdigest()
        record = replace(score("en", 0.0, seed=seed, condition=name), **run, **KNOWN, question=digest)
        for column in COLUMNS:
            kept[column] += [getattr(record, column)] * len(TARGETS)
    size = len(kept["task"])
    kept |= {"target": TARGETS * len(runs), "corpus": [f"ud/{target}" for target in TARGETS] * len(runs)}
    value = 70 + 10 * chance.random(size)
    kept |= {"value": value.tolist(), "low": (value - 1).tolist(), "high": (value + 1).tolist()}
    kept["tags"] = [f'{{"crosslens": "0.1.0", "run": "{name}", "torch": "2.13.0"}}' for name in kept["question"]]
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


READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
from crosslens.corpora.catalogue import load_corpus
print(sum(map(len, load_corpus(sys.argv[1]).sentences)))
"""


@pytest.mark.slow
def test_a_treebank_of_two_million_words_is_read_in_a_gib(tmp_path):
    chance = np.random.default_rng(1)
    forms = (chance.zipf(1.3, 2_000_000) % 100_000).tolist()
    with open(tmp_path / "large.conllu", "w", encoding="utf-8") as file:
        for start in range(0, len(forms), 20):
            file.write(f"# sent_id = {start}\n")
            for word, form in enumerate(forms[start : start + 20], start=1):
                tag = "NOUN" if form % 3 else "VERB"
                file.write(f"{word}\tw{form}\tw{form}\t{tag}\t_\tNumber=Sing\t{word - 1}\tdep\t_\tSpaceAfter=No\n")
            file.write("\n")
    assert (tmp_path / "large.conllu").stat().st_size > 80e6
    words = [sys.executable, "-c", READ, tmp_path / "large.conllu"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "2000000\n"
