"""Tables of studies that were run without some of their corpora say so."""

import json
from pathlib import Path

import pytest

from crosslens.report.incomplete import not_evaluated, with_caption
from crosslens.report.render import to_latex, to_markdown
from crosslens.report.table import Cell, Row, Table
from crosslens.results.record import Results
from crosslens.runs.store import Store
from made_records import score, similarity


@pytest.fixture
def store(tmp_path):
    """A store with a study that lacks two corpora, and one that lacks none."""
    store = Store(tmp_path / "all" / "runs")
    missing = [{"corpus": name, "needed_for": []} for name in ("ud/ar_padt:train", "ud/he_htb:test")]
    for name, plan in (("one", {"missing": missing}), ("two", {"missing": []})):
        store.keep_plan(name, {"plan.json": json.dumps({"runs": {}, "asked": [], **plan}), "results.csv": ""})
    return store.folder


SENTENCE = "Not evaluated in one (corpus missing): ud/ar_padt:train, ud/he_htb."


def test_missing_corpora_are_named_wherever_the_results_are_read_from(store):
    home = store / "studies" / "one"
    for path in (store, store.parent, home, home / "results.csv", str(home / "results.csv")):
        assert not_evaluated([path]) == (SENTENCE,), path
    assert not_evaluated([store, home]) == (SENTENCE,)


def test_studies_with_all_corpora_and_other_files_have_no_sentence(store, tmp_path):
    (tmp_path / "results.csv").write_text("")
    others = [store / "studies" / "two", tmp_path / "results.csv"]
    assert not_evaluated([*others, tmp_path / "no-such-folder"]) == ()


def test_a_table_carries_the_sentence_in_every_form_with_a_caption():
    table = Table("t", "A caption.", ("a",), {"g": (Row("r", (Cell(1.0, "score"),)),)})
    noted = with_caption(table, [SENTENCE])
    assert f"A caption. {SENTENCE}" in to_markdown(noted)
    assert r"ud/he\_htb" in to_latex(noted)
    assert with_caption(table, []) == table


def planned(*runs, waiting=0):
    asked = [{"run": run, "columns": {}, "questions": []} for run in runs]
    return {"plan.json": json.dumps({"runs": dict.fromkeys(runs, "pos en"), "asked": asked, "waiting": waiting})}


def test_an_unfinished_study_is_named_with_its_runs(tmp_path):
    store, run = Store(tmp_path / "all" / "runs"), "0" * 16
    home = store.folder / "studies" / "part"
    store.keep_plan("part", planned(run, "1" * 16))
    with store.publishing(run) as folder:
        Results.of([]).write(folder / "records.parquet")
    for path in (store.folder, store.folder.parent, home):
        assert not_evaluated([path]) == ("Unfinished study part: 1 of 2 runs done.",), path
    store.keep_plan("part", planned(run, waiting=3))
    assert not_evaluated([home]) == ("Unfinished study part: 1 of 1 runs done, and 3 more wait for them.",)
    store.keep_plan("part", planned(run))
    assert not_evaluated([store.folder]) == ()


def test_results_of_a_finished_study_are_complete_without_their_runs(tmp_path):
    store = Store(tmp_path / "runs")
    store.keep_plan("whole", planned("0" * 16))
    home = store.folder / "studies" / "whole"
    assert not_evaluated([home])
    (home / "results.csv").write_text("")
    assert not_evaluated([home, home / "results.csv"]) == ()
    assert not_evaluated([store.folder])  # collected from the runs, which are gone


def test_of_chosen_results_only_their_studies_are_named(store):
    store = Store(store)
    store.keep_plan("part", planned("0" * 16))
    unfinished = "Unfinished study part: 0 of 1 runs done."
    assert not_evaluated([store.folder]) == (SENTENCE, unfinished)
    assert not_evaluated([store.folder], studies=["part", None]) == (unfinished,)
    assert not_evaluated([store.folder], studies=["one", "two"]) == (SENTENCE,)
    assert not_evaluated([store.folder], studies=[]) == ()


def test_commands_name_no_study_without_chosen_results(run):
    plan = json.loads(planned("0" * 16)["plan.json"]) | {"versions": {}}
    Store("runs").keep_plan("part", {"plan.json": json.dumps(plan)})
    languages = {"en": 90.0, "de": 80.0, "fr": 70.0, "ru": 60.0}
    alike = [similarity("cka", value / 100, target=target) for target, value in languages.items()]
    scores = [score(target, value) for target, value in languages.items()]
    Results.of([*scores, *alike]).with_columns(study="other").write("results.csv")
    for words in (["results"], ["correlate"], ["report", "--out", "all"]):
        status, shown, said = run(*words, "results.csv", "runs")
        page = Path("all/index.html").read_text("utf-8") if "report" in words else ""
        assert (status, "Unfinished study part" in shown + said + page) == (0, True), said
        words = ["some" if word == "all" else word for word in words]
        status, shown, said = run(*words, "results.csv", "runs", "--where", "task=pos")
        page = Path("some/index.html").read_text("utf-8") if "report" in words else ""
        assert (status, "Unfinished study" in shown + said + page) == (0, False), said
