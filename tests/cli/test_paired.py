"""``crosslens test``."""

import json

import pandas as pd
import pytest

from crosslens.studies.paired import COLUMNS
from toy_commands import finetune, rows_of
from toy_studies import results_of

ABLATED = ("--random-init", "1-2")


def test_folders_of_fine_tunings_are_tested(run, tiny_bert):
    for seed in ("1", "2"):
        assert finetune(run, tiny_bert, "--seed", seed, out=f"reference-{seed}")[0] == 0
        assert finetune(run, tiny_bert, "--seed", seed, *ABLATED, out=f"ablated-{seed}")[0] == 0
    sides = ("reference-1,reference-2", "ablated-1,ablated-2")
    status, shown, _ = run("test", *sides)
    assert status == 0
    for text in ("B − A", "A: reference-1,reference-2", "2 seeds; 95 % intervals", "fr ud/fr_pud:test"):
        assert text in shown
    status, shown, _ = run("test", *sides, "--json")
    rows = json.loads(shown)
    assert [(row["target"], row["seeds"]) for row in rows] == [("en", 2), ("fr", 2)]
    assert rows[0]["difference"] == pytest.approx(rows[0]["b"] - rows[0]["a"])
    status, shown, _ = run("test", "reference-1", "ablated-1", "--json")
    assert json.loads(shown)[0]["p"] is None
    assert "one seed: the 95 % interval is over sentences alone" in run("test", "reference-1", "ablated-1")[1]


def test_an_evaluation_of_a_kept_model_is_tested_too(run, tiny_bert):
    assert finetune(run, tiny_bert, "--keep-model", test="ud/en_pud")[0] == 0
    assert run("evaluate", "out/model", "--test", "ud/fr_pud", "--out", "more", "--device", "cpu")[0] == 0
    assert finetune(run, tiny_bert, *ABLATED, test="ud/fr_pud", out="ablated")[0] == 0
    assert [row["target"] for row in json.loads(run("test", "more", "ablated", "--json")[1])] == ["fr"]
    status, _, error = run("test", "out", "ablated")
    assert (status, "A and B have no test corpus and metric in common" in error) == (2, True)


def test_what_is_asked_wrongly(run, uninterrupted):
    status, _, error = run("test", uninterrupted, uninterrupted)
    assert (status, "A has several conditions: reference; 1-2" in error) == (2, True)
    chosen = ("--a", "condition=none", "--b", "ablation=1-2")
    folder, rows = uninterrupted, rows_of(results_of(uninterrupted))
    tested = json.loads(run("test", folder, folder, *chosen, "--json")[1])
    shown = run("test", folder, folder, *chosen)[1].splitlines()
    assert [line for line in shown if line.startswith(("A:", "B:"))] == [
        f"A: {folder}, condition=none",
        f"B: {folder}, ablation=1-2",
    ]
    for side, ablation in (("a", ""), ("b", "1-2")):  # --a selects records of A, and --b of B
        for test in tested:
            same = [row for row in rows if (row["ablation"], row["corpus"]) == (ablation, test["corpus"])]
            assert test[side] == pytest.approx(sum(float(row["value"]) for row in same) / 2)
    status, _, error = run("test", uninterrupted, uninterrupted, *chosen, "--metric", "las")
    assert (status, "A selects no scores" in error) == (2, True)
    status, _, error = run("test", "nowhere", "nowhere")
    assert (status, "no such results file" in error) == (2, True)


def test_the_note_is_of_the_corpus_with_most_seeds(run, monkeypatch):
    """An evaluation of one seed may lack a corpus of the others; another one is still tested over seeds."""
    fixed = dict.fromkeys(COLUMNS, 1.0) | {"metric": "las", "corpus": "c"}
    rows = [fixed | {"target": target, "seeds": seeds} for target, seeds in (("fr", 1), ("de", 2), ("ru", 1))]
    monkeypatch.setattr("crosslens.studies.paired.test", lambda *sides, **options: pd.DataFrame(rows))
    shown = run("test", "a", "b")[1]
    assert ("2 seeds; 95 % intervals" in shown, "one seed" in shown) == (True, False)


def test_p_values_have_three_decimals_and_smaller_ones_a_bound(run, monkeypatch):
    written = {0.0004: "<0.001", 0.0012: "0.001", 0.0062: "0.006", 0.5: "0.500", float("nan"): "–"}
    sides = {"a": 10.0, "b": 30.0, "difference": 20.0}
    fixed = dict.fromkeys(COLUMNS, 1.0) | sides | {"metric": "las", "corpus": "c", "seeds": 2}
    rows = [fixed | {"target": f"t{number}"} for number in range(5)]
    table = pd.DataFrame(rows).assign(p=list(written), q=list(written))
    monkeypatch.setattr("crosslens.studies.paired.test", lambda *sides, **options: table)
    lines = [line.split() for line in run("test", "a", "b")[1].splitlines()]
    shown = {line[0]: line for line in lines if line and line[0] in {row["target"] for row in rows}}
    assert ["target", "corpus", "A", "B", "B", "−", "A", "low", "high"] in [line[:9] for line in lines]
    assert {tuple(line[2:5]) for line in shown.values()} == {("10.00", "30.00", "+20.00")}
    for number, text in enumerate(written.values()):
        assert shown[f"t{number}"].count(text) == 2
