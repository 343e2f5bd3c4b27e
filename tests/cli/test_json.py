"""``--json``: commands that write results print their records, and nothing else on standard output."""

import json
import math
from dataclasses import dataclass
from types import MappingProxyType

import pytest

from crosslens.cli._display import print_object
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


def test_retrieval_of_sentences(run, tiny_bert, tmp_path):
    pairs = ("--pair", "en-fr", "--train", "ud/pud", "--test", "ud/pud", "--device", "cpu")
    status, shown, _ = run("align", "sentences", tiny_bert, *pairs, "--out", "out", "--json")
    assert status == 0
    assert json.loads(shown) == rows_of(tmp_path / "out")


STUDY = """
name: small
encoder: {encoder}
data: {{recipe: small, tasks: {{pos: {{en: {{train: ud/en_toy, tests: [{test}]}}}}}}}}
set: {{epochs: 1, select: last}}
seeds: 2
"""


def test_plan_and_status(run, tiny_bert, tmp_path):
    (tmp_path / "small.yaml").write_text(STUDY.format(encoder=tiny_bert, test="ud/fr_pud"), "utf-8")
    status, shown, _ = run("plan", "small.yaml", "--out", "runs", "--json")
    planned = json.loads(shown)
    assert (status, planned["study"], planned["waiting"], planned["missing"]) == (0, "small", 0, [])
    assert [row["label"] for row in planned["runs"]] == ["pos en reference seed 1", "pos en reference seed 2"]
    assert [(row["done"], row["open"]) for row in planned["runs"]] == [(False, ["ud/fr_pud:test"])] * 2
    assert run("run", "small.yaml", "--out", "runs", "--executor", "serial", "--device", "cpu")[0] == 0
    assert json.loads(run("plan", "small.yaml", "--out", "runs", "--json")[1])["runs"] == []
    (row,) = json.loads(run("status", "runs", "--json")[1])
    assert (row["study"], row["runs"], row["done"], row["failed"]) == ("small", 2, 2, 0)
    status, _, err = run("status", "runs", "--json", "--watch")
    assert status == 2
    assert "--watch prints lines" in err


def test_missing_corpora(run, tiny_bert, tmp_path):
    (tmp_path / "small.yaml").write_text(STUDY.format(encoder=tiny_bert, test="ud/xx_a, ud/xx_b"), "utf-8")
    status, shown, _ = run("plan", "small.yaml", "--out", "runs", "--json")
    assert status == 2
    missing = json.loads(shown)["missing"]
    assert [row["corpus"] for row in missing] == ["ud/xx_a:test", "ud/xx_b:test"]
    assert missing[0]["needed_for"] == ["target ud/xx_a of pos"]


def test_versions_and_folders(run, treebanks):
    status, shown, _ = run("doctor", "--json")
    described = json.loads(shown)
    assert status == 0
    assert {"crosslens", "Python", "torch", "devices"} <= set(described)
    assert any(str(treebanks) in folder for folder in described["data"])


@dataclass(frozen=True)
class Evidence:
    score: float
    by_source: MappingProxyType


def test_evidence_within_evidence_is_plain_json(capsys):
    scores = {"en": 1.5, "fr": 0.0}  # 0 is a score
    inner = {source: Evidence(score, MappingProxyType({})) for source, score in scores.items()}
    print_object([Evidence(math.nan, MappingProxyType(inner))])
    plain = {source: {"score": score, "by_source": {}} for source, score in scores.items()}
    assert json.loads(capsys.readouterr().out) == [{"score": None, "by_source": plain}]
