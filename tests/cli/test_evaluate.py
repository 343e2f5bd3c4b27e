import json

import pytest

from crosslens.data.formats.conllu import read
from toy_commands import finetune, rows_of


def test_a_kept_model_is_evaluated_predicts_and_is_scored(run, tiny_bert, treebanks, tmp_path):
    assert finetune(run, tiny_bert, "--keep-model", "--predictions", "kept", "--freeze", "0", test="ud/*_pud")[0] == 0
    assert sorted(p.name for p in (tmp_path / "kept").iterdir()) == ["ud_en_pud-test.conllu", "ud_fr_pud-test.conllu"]
    status, shown, _ = run("evaluate", "out/model", "--test", "ud/fr_pud", "--out", "again", "--device", "cpu")
    assert status == 0
    assert "ud/fr_pud:test" in shown
    first = [row for row in rows_of("out/results.csv") if row["target"] == "fr"]
    second = rows_of("again/results.csv")
    assert first[0]["value"] == second[0]["value"]

    gold = treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu"
    assert run("predict", "out/model", gold, "--out", "p.conllu", "--device", "cpu")[0] == 0
    assert read("p.conllu")[0].heads == read(gold)[0].heads
    status, shown, _ = run("score", "pos", gold, "p.conllu", "--json")
    assert status == 0
    assert json.loads(shown)["accuracy"] == pytest.approx(float(second[0]["value"]))
    status, shown, _ = run("score", "pos", gold, gold)
    assert shown.startswith("accuracy 100.00  95 % [100.00, 100.00]  n=")
