"""Studies that are stopped, and resumed."""

import os
import signal

import crosslens.runs.answer as answering
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import Context, execute
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
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


def test_asked_to_stop_while_it_evaluates_no_other_run_is_begun(study, treebanks, tmp_path, monkeypatch):
    asked = []

    def interrupted(*its, **more):
        asked.append(its)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(answering, "evaluate", interrupted)
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
