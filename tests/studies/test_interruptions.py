"""Studies that are stopped, and resumed, also after a change."""

import os
import shutil
import signal

import pytest

import crosslens.runs.answer as answering
from crosslens.encoders.condition import Condition
from crosslens.errors import DataError
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import Context, execute
from crosslens.runs.recorded import read_results
from crosslens.runs.status import status
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.training.evaluate import evaluate_variants
from crosslens.training.loop import Loop
from toy_studies import results_of, run


def test_a_run_that_another_process_works_on_is_left_to_it(study, treebanks, tmp_path):
    store = Store(tmp_path)
    planned = plan(study, store, corpora=Corpora(str(treebanks)))
    with store.claim(planned.left[0].run.id):
        report = run(study, tmp_path, treebanks)
    assert [outcome.run for outcome in report.taken] == [planned.left[0].run.id]
    assert report.plan.done == 3


def test_sigterm_saves_the_training_and_the_same_call_goes_on(study, treebanks, tmp_path, uninterrupted, monkeypatch):
    """In this process: the signal's handler sets what `stop` asks; the state is there, and the bits are the same."""
    store = Store(tmp_path)
    (first, *_) = plan(study, store, corpora=Corpora(str(treebanks))).left
    steps = iter(range(100))
    outcome = execute(first, Context(str(tmp_path), str(treebanks), "cpu"), stop=lambda: next(steps) >= 3)
    assert outcome.state == "stopped"
    assert store.state(first.run.id).exists()
    report = run(study, tmp_path, treebanks)
    assert not report.failed
    assert "resuming from" in (store.path(first.run.id) / "log.txt").read_text()
    assert not store.state(first.run.id).exists()
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.usefixtures("interruptible")
def test_interrupted_within_a_step_it_finishes_the_step_and_resumes(
    study, treebanks, tmp_path, uninterrupted, monkeypatch, number
):
    """SIGTERM as Ctrl-C, with the runs in this process."""
    store, gradients, steps = Store(tmp_path), Loop._gradients, []

    def interrupted(loop, *arguments):
        steps.append(loop.step)
        if len(steps) == 3:
            os.kill(os.getpid(), number)
        return gradients(loop, *arguments)

    monkeypatch.setattr(Loop, "_gradients", interrupted)
    report = run(study, tmp_path, treebanks)
    assert (report.stopped, store.ids()) == (True, [])
    (state,) = (tmp_path / "tmp").glob("*.state")
    report = run(study, tmp_path, treebanks)
    assert (report.stopped, state.exists()) == (False, False)
    assert steps[2:4] == [2, 3]  # nothing was computed twice
    assert results_of(tmp_path).read_bytes() == results_of(uninterrupted).read_bytes()


def test_asked_to_stop_while_it_evaluates_no_other_run_is_begun(study, treebanks, tmp_path, monkeypatch):
    asked = []

    def interrupted(*its, **more):
        asked.append(its)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(answering, "evaluate_variants", interrupted)
    report = run(study, tmp_path, treebanks)
    assert (report.stopped, len(asked), Store(tmp_path).ids()) == (True, 1, [])
    assert not report.failed


def test_a_study_that_is_stopped_counts_the_runs_that_are_done_now(study, treebanks, tmp_path):
    def stop(update):
        if (update.unit, update.done) == ("runs", 2):
            raise KeyboardInterrupt

    report = run(study, tmp_path, treebanks, progress=stop)
    assert report.stopped
    assert (report.plan.done, len(report.plan.left)) == (2, len(report.plan.runs) - 2)


@pytest.fixture
def many(study):
    """One run with questions under three conditions; the last one has other weights, and is asked last."""
    conditions = tuple(Condition.read(value) for value in ("none", {"zero": "1"}, {"revert": "2"}))
    return study.model_copy(update={"conditions": conditions, "seeds": (1,), "set": {**study.set, "epochs": 3}})


@pytest.mark.parametrize("error", [ValueError("the last question"), KeyboardInterrupt()])
def test_what_is_answered_stays_when_a_later_question_fails(many, treebanks, tmp_path, monkeypatch, error):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(many, whole, treebanks)
    (name,) = Store(whole).ids()

    def failing(models, *more):
        if any(part.kind == "revert" for part in models[0].encoder.condition.interventions):
            raise error
        return evaluate_variants(models, *more)

    store = Store(broken)
    (asked,) = plan(many, store, corpora=Corpora(str(treebanks))).left
    context = Context(str(broken), str(treebanks), "cpu")
    steps = iter(range(100))
    assert execute(asked, context, stop=lambda: next(steps) >= 3).state == "stopped"
    with monkeypatch.context() as patch:
        patch.setattr(answering, "evaluate_variants", failing)
        outcome = execute(asked, context)
    assert outcome.state == ("stopped" if isinstance(error, KeyboardInterrupt) else "failed")
    assert store.ids() == [name]
    assert len(store.answers(name)) == 4  # of six
    assert store.state(name).exists()
    assert [len(left.questions) for left in plan(many, store, corpora=Corpora(str(treebanks))).left] == [2]
    report = run(many, broken, treebanks)
    assert not report.failed
    assert not store.state(name).exists()
    assert not store.failed(name)
    for file in (f"runs/{name}/records.parquet", f"runs/{name}/counts.npz", "studies/toy/results.csv"):
        assert (broken / file).read_bytes() == (whole / file).read_bytes()
    log = "\n".join(store.log(name))
    assert log.count("resuming from") == 2
    assert log.endswith("done")


def test_a_run_with_open_questions_is_not_done(many, treebanks, tmp_path, monkeypatch):
    def failing(models, corpora):
        return 1 / 0 if corpora[0].language == "fr" else evaluate_variants(models, corpora)

    monkeypatch.setattr(answering, "evaluate_variants", failing)
    run(many, tmp_path, treebanks)
    (row,) = status(Store(tmp_path))
    assert (row.runs, row.done, row.failed) == (1, 0, 1)


def test_what_a_process_killed_after_publishing_left_is_removed_when_the_study_is_whole(
    study, treebanks, uninterrupted, tmp_path
):
    folder = shutil.copytree(uninterrupted, tmp_path / "runs")
    store = Store(folder)
    run_id, *_ = store.ids()
    store.state(run_id).write_text("state")
    (folder / "failed" / run_id).mkdir()
    assert run(study, folder, treebanks).plan.left == ()
    assert (store.state(run_id).exists(), store.failed(run_id)) == (False, False)


def test_results_of_an_earlier_plan_are_renamed_until_those_of_the_new_one_are_there(study, treebanks, tmp_path):
    small = study.model_copy(update={"seeds": (1,), "conditions": study.conditions[:1]})
    run(small, tmp_path, treebanks)
    files = [results_of(tmp_path), results_of(tmp_path).with_name("summary.csv")]
    renamed = [file.with_name(f"{file.stem}.before.csv") for file in files]
    before = [file.read_bytes() for file in files]
    for rate in (1e30, 1e31):  # the second plan's results would be none
        notes = []
        changed = small.model_copy(update={"set": {**small.set, "learning_rate": rate}})
        assert run(changed, tmp_path, treebanks, progress=notes.append).failed
        assert not any(file.exists() for file in files)
        assert [file.read_bytes() for file in renamed] == before
        (said,) = [note for note in map(str, notes) if "has changed" in note]
        assert str(renamed[0]) in said
    with pytest.raises(DataError):
        read_results(results_of(tmp_path).parent)
    run(small, tmp_path, treebanks)
    assert [file.read_bytes() for file in files] == before
    assert not any(file.exists() for file in renamed)
