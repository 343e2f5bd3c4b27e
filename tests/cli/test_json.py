"""``--json``: commands that write results print their records, and nothing else on standard output."""

import json

import pytest

from crosslens.results.record import read_results
from toy_commands import finetune

COMMANDS = {
    "overlap": ("--train", "ud/en_toy", "--test", "ud/fr_pud"),
    "compare": ("--corpus", "ud/pud", "--pairs", "en-fr", "--measures", "cka", "--device", "cpu"),
}
PROBE = ("--train", "ud/en_toy:train", "--test", "ud/fr_pud", "--device", "cpu")


def rows_of(folder):
    return [
        {**row, "tags": json.loads(row["tags"])} for row in read_results(folder / "results.csv").records.to_pylist()
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_measurements(run, tiny_bert, tmp_path, name):
    status, shown, _ = run(name, tiny_bert, *COMMANDS[name], "--out", "out", "--json")
    assert status == 0
    assert json.loads(shown) == rows_of(tmp_path / "out")


def test_a_probe(run, tiny_bert, tmp_path):
    status, shown, _ = run("probe", "upos", tiny_bert, *PROBE, "--out", "out", "--json")
    assert status == 0
    assert json.loads(shown) == rows_of(tmp_path / "out")


def test_scores(run, tiny_bert, tmp_path):
    status, shown, _ = finetune(run, tiny_bert, "--keep-model", "--json", test="ud/en_pud")
    assert status == 0
    assert json.loads(shown) == rows_of(tmp_path / "out")
    status, shown, _ = run("evaluate", "out/model", "--test", "ud/fr_pud", "--out", "more", "--device", "cpu", "--json")
    assert status == 0
    (record,) = json.loads(shown)
    assert (record["target"], record["low"] <= record["value"] <= record["high"]) == ("fr", True)
    assert [record] == rows_of(tmp_path / "more")
