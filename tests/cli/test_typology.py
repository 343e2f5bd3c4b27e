"""``crosslens typology``: what is printed and refused."""

import json

import pandas as pd
import pytest

from crosslens.results.record import Results
from crosslens.runs.store import Store
from crosslens.studies.typology import typology_of
from made_typology import languages

STUDY = """
name: both
encoder: {encoder}
data:
  recipe: small
  tasks:
    pos:
      fr: {{train: ud/fr_pud:test, tests: [ud/fr_pud], text: fr.txt}}
set: {{batch: 3, epochs: 1}}
conditions: [none, {{start: bilstm}}]
seeds: 1
"""


def test_typology_of_a_store(run, folder, tiny_bert, treebanks):
    (folder / "both.yaml").write_text(STUDY.format(encoder=tiny_bert), "utf-8")
    status, out, err = run("run", "both.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")
    assert status == 0, err
    assert "BiLSTM" in out
    assert run("plan", "both.yaml", "--data", treebanks, "--out", "runs")[0] == 0
    status, out, err = run("typology", "runs", "--csv", "table.csv", "--data", treebanks)
    assert status == 0, err
    assert "pos: scores in points, no class: one seed cannot be tested" in out
    assert "undecided" not in out
    table = pd.read_csv("table.csv")
    assert table[["q", "class", "by means"]].isna().all(axis=None)
    assert table["encoder - BiLSTM"].notna().all()
    assert list(table["corpus"]) == ["ud/fr_pud:test"]
    assert table["adapted"].isna().all()
    (row,) = json.loads(run("typology", "runs", "--data", treebanks, "--json")[1])
    assert row["encoder - BiLSTM"] == pytest.approx(table["encoder - BiLSTM"][0])
    assert (row["class"], row["adapted"]) == (None, None)
    status, _, err = run("report", "runs", "--out", "report")  # which needs no corpora
    assert status == 0, err
    assert "pos: not tested" in (folder / "report" / "typology.md").read_text("utf-8")
    assert (folder / "report" / "typology.svg").stat().st_size
    assert run("typology", "runs", "--csv", "table.csv")[0] == 2
    assert run("typology", folder)[0] == 2


def test_a_typology_does_not_mix_what_was_trained_in_several_ways(run, folder, tiny_bert, treebanks):
    longer = STUDY.format(encoder=tiny_bert).replace("name: both", "name: longer").replace("epochs: 1", "epochs: 3")
    for name, text in (("both", STUDY.format(encoder=tiny_bert)), ("longer", longer)):
        (folder / f"{name}.yaml").write_text(text, "utf-8")
        words = ("run", f"{name}.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")
        assert run(*words)[0] == 0
    status, _, err = run("typology", "runs", "--data", treebanks)
    assert status == 2
    assert "was trained on in several ways" in err
    assert "--study both" in err
    for study in ("both", "longer"):
        assert run("typology", "runs", "--study", study, "--csv", f"{study}.csv", "--data", treebanks)[0] == 0
        table, summary = pd.read_csv(f"{study}.csv"), pd.read_csv(f"runs/studies/{study}/summary.csv")
        of_encoder = summary[summary["condition"] == "none"]["mean"]
        assert table["encoder"].tolist() == pytest.approx(of_encoder.tolist())
    status, _, err = run("typology", "runs", "--study", "lnger", "--data", treebanks)
    assert status == 2
    assert "longer" in err


def test_a_typology_refuses_two_encoders_of_one_seed_only_where_it_compares(run, folder, tiny_bert, treebanks):
    assert (
        run(
            "finetune",
            "pos",
            tiny_bert,
            "--train",
            "fr.conllu",
            "--test",
            "ud/fr_pud",
            "--data",
            treebanks,
            "--recipe",
            "small",
            "--keep-model",
            "--out",
            "other",
        )[0]
        == 0
    )
    study = STUDY.format(encoder=tiny_bert)
    alone = study.replace("[none, {start: bilstm}]", "[none]").replace("tests: [ud/fr_pud]", "tests: [fr.conllu]")
    again = alone.replace("epochs: 1", "epochs: 2").replace("name: both", "name: again")
    for name, text in (("both", study), ("alone", alone.replace("name: both", "name: alone")), ("again", again)):
        (folder / f"{name}.yaml").write_text(text, "utf-8")
        assert run("run", f"{name}.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")[0] == 0
    assert run("typology", "runs", "--data", treebanks)[0] == 0
    others = study.replace(str(tiny_bert), str(folder / "other" / "model")).replace("name: both", "name: others")
    (folder / "others.yaml").write_text(others, "utf-8")
    assert run("run", "others.yaml", "--data", treebanks, "--executor", "serial", "--out", "runs")[0] == 0
    status, _, err = run("typology", "runs", "--data", treebanks)
    assert status == 2
    assert "was trained on in several ways" in err


@pytest.mark.parametrize(
    ("encoders", "tested", "noted"), [(1, True, True), (1, False, False), (2, True, False), (3, True, False)]
)
def test_seeds_that_share_one_adapted_encoder_are_noted(run, monkeypatch, tmp_path, encoders, tested, noted):
    """Not those of several encoders, and not the one adapted seed of an unfinished study."""
    Store(tmp_path / "runs")
    frame = typology_of(Results.of(languages())).assign(**{"adapted encoders": encoders})
    frame = frame if tested else frame.assign(**{"q adapted": float("nan")})
    monkeypatch.setattr("crosslens.studies.typology.read_typology", lambda *_, **__: frame)
    status, shown, said = run("typology", "runs")
    assert (status, "in 3 of 3 rows all seeds share one adapted encoder" in shown) == (0, noted), said


def test_of_chosen_studies_only_those_that_are_unfinished_are_named(run, monkeypatch, tmp_path):
    plan = {"runs": {"0" * 16: "pos"}, "asked": [{"run": "0" * 16, "columns": {}, "questions": []}]}
    for name in ("part", "rest"):
        Store(tmp_path / "runs").keep_plan(name, {"plan.json": json.dumps(plan)})
    frame = typology_of(Results.of(languages())).assign(**{"adapted encoders": 2})
    monkeypatch.setattr("crosslens.studies.typology.read_typology", lambda *_, **__: frame)
    for words, rest in (((), True), (("--study", "part"), False)):
        status, shown, said = run("typology", "runs", *words)
        assert status == 0, said
        assert ("study part: 0 of 1" in shown, "study rest: 0 of 1" in shown) == (True, rest)
