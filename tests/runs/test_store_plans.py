"""Plans of studies in a store: which files are kept, and what is collected of an unfinished study."""

import json

import pytest

from crosslens.runs.question import CorpusRef, Score
from crosslens.runs.store import Store
from crosslens.training import versions
from made_runs import FRENCH, answers, asked, publish


def test_every_file_of_a_plan_is_kept(tmp_path):
    store = Store(tmp_path)
    files = {"study.yaml": "name: s\n", "plan.json": "{}\n"}
    assert store.keep_plan("s", files) is None
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "studies" / "s").iterdir()} == files


@pytest.mark.parametrize(("kept", "moved"), [("same", False), ("another", True), (None, True)])
def test_only_results_of_the_same_plan_keep_their_names(tmp_path, kept, moved):
    """Not those of another plan, or of one that was lost."""
    store, folder = Store(tmp_path), tmp_path / "studies" / "s"
    folder.mkdir()
    (folder / "results.csv").write_text("earlier\n", "utf-8")
    if kept is not None:
        (folder / "plan.json").write_text(kept, "utf-8")
    before = store.keep_plan("s", {"plan.json": "same"})
    assert before == (folder / "results.before.csv" if moved else None)
    left = [path for path in folder.iterdir() if path.name != "plan.json"]
    assert [path.read_text("utf-8") for path in left] == ["earlier\n"]
    assert [path.name for path in left] == ["results.before.csv" if moved else "results.csv"]


def test_finished_runs_are_collected_whichever_are_unfinished(tmp_path):
    store = Store(tmp_path)
    wanted = [asked(FRENCH, seed=seed) for seed in (1, 2, 3, 4)]
    plan = {"runs": {}, "waiting": 0, "versions": versions.current(), "asked": [each.view for each in wanted]}
    store.keep_plan("s", {"plan.json": json.dumps(plan)})
    assert len(store.collect("s")) == 0
    for place in (1, 3):
        publish(store, wanted[place], answers(FRENCH))
    assert store.collect("s").records["seed"].to_pylist() == [2, 4]


def test_versions_in_the_plan_of_an_earlier_process_are_compared_by_their_names(tmp_path):
    """Under other names, all results of that plan would count as outdated."""
    store = Store(tmp_path)
    publish(store, asked(FRENCH), answers(FRENCH))
    stored = {
        "fine_tuning": versions.FINE_TUNING,
        "fine_tuning_frozen": versions.FINE_TUNING_FROZEN,
        "bilstm": versions.BILSTM,
        "pretraining": versions.PRETRAINING,
        "adaptation": versions.ADAPTATION,
        "scoring": versions.SCORING,
        "similarity": versions.SIMILARITY,
        "probing": versions.PROBING,
        "overlap": versions.OVERLAP,
    }
    assert versions.current() == stored
    for name in stored:
        outdated = stored[name] - 1
        for study, known, settings in (
            ("new", stored, None),
            ("old", {**stored, name: outdated}, f"{name}={outdated}"),
        ):
            plan = {"runs": {}, "waiting": 0, "versions": known, "asked": [asked(FRENCH).view]}
            store.keep_plan(f"{study}-{name}", {"plan.json": json.dumps(plan)})
            assert store.collect(f"{study}-{name}").records["settings"].to_pylist() == [settings]


def test_a_run_of_which_two_sources_ask_keeps_its_failed_attempt_until_both_have_their_answer(tmp_path):
    """Sources with the same training data share their runs."""
    store, german = Store(tmp_path), Score(CorpusRef("ud/de_gsd:test", "e" * 64), {})
    wanted = [asked(FRENCH), asked(german)]
    run = wanted[0].run
    plan = {"runs": {run.id: run.label}, "waiting": 0, "versions": {}, "asked": [each.view for each in wanted]}
    store.keep_plan("s", {"plan.json": json.dumps(plan)})
    assert store.questions("s") == {run.id: {FRENCH.id, german.id}}
    publish(store, wanted[1], answers(german))
    store.keep_failure(run, "killed\n")
    store.tidy([run.id])
    assert store.failed(run.id)
    store.add_answers(run.id, answers(FRENCH), {})
    store.tidy([run.id])
    assert not store.failed(run.id)
