"""A run of each kind: what is left of its attempts, and that it is done once."""

import json
import re
import time
from dataclasses import replace

import pytest
import torch

from crosslens.encoders.condition import Condition
from crosslens.errors import WorkError
from crosslens.progress import Update, callback
from crosslens.results.record import concatenated
from crosslens.runs.answer import answers
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import LOG_EVERY, Context, _Log, _Work, execute, lost, steps_reported
from crosslens.runs.run import AdaptRun, EncoderRun, ModelRun
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.study import Similarity
from crosslens.training.distributed import threads
from toys import SENTENCES


@pytest.fixture(scope="module")
def planned(study, treebanks, tmp_path_factory):
    """A store, and a run of each kind with its questions."""
    folder = tmp_path_factory.mktemp("execute")
    (folder / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 20), "utf-8")
    source = study.data.tasks["pos"]["en"].model_copy(update={"text": str(folder / "fr.txt")})
    changes = {
        "conditions": (Condition(), Condition(start="adapted")),
        "data": study.data.model_copy(update={"tasks": {"pos": {"en": source}}}),
        "adaptation": {"epochs": 1, "length": 16},
        "similarity": Similarity(of=("pretrained",), measures=("cka",)),
        "seeds": (2,),
    }
    store = Store(folder / "runs")
    left = plan(study.model_copy(update=changes), store, corpora=Corpora(str(treebanks))).left
    return store, {type(asked.run): asked for asked in left}


@pytest.mark.parametrize("kind", [AdaptRun, EncoderRun, ModelRun])
def test_a_run_that_succeeds_leaves_no_failed_attempt_and_is_done_once(planned, treebanks, kind):
    store, runs = planned
    asked, context = runs[kind], Context(str(store.folder), str(treebanks), "cpu")
    run = asked.run.id
    store.keep_failure(asked.run, "killed\n")
    half = store.folder / "tmp" / f"{run}.encoder" / "half"  # of an encoder that was not published
    half.parent.mkdir()
    half.touch()
    assert execute(asked, context).state == "done"
    assert not store.failed(run)
    assert not store.state(run).exists()

    def files():
        return {path.name: path.read_bytes() for path in store.path(run).rglob("*") if path.is_file()}

    finished = files()
    assert {"run.json", "records.parquet", "log.txt"} <= set(finished)
    assert "half" not in finished
    assert execute(asked, context).state == "done"
    assert files() == finished


def test_other_weights_than_before_fail_and_leave_no_state_that_gives_them_again(planned, treebanks, monkeypatch):
    """Where the first machine, or its memory, is there again, the next attempt gives the first weights."""
    monkeypatch.setattr("crosslens.training.epochs.LONG", 0.0)  # the state is saved after few steps too
    store, runs = planned
    asked, context = runs[ModelRun], Context(str(store.folder), str(treebanks), "cpu")
    run = asked.run.id
    assert execute(asked, context).state == "done"
    file, answered = store.path(run) / "run.json", store.answers(run)
    written = file.read_text("utf-8")
    described = json.loads(written)
    described["facts"]["weights"] = "0" * 64
    file.write_text(json.dumps(described), "utf-8")
    keeping = replace(context, keep_models=True)
    outcome = execute(asked, keeping)
    assert outcome.state == "failed"
    assert "has different weights" in outcome.tail
    assert "instead of 00000000" in outcome.tail
    assert not store.state(run).exists()
    assert not store.model(run).exists()
    assert store.answers(run).records.equals(answered.records)
    file.write_text(written, "utf-8")
    assert execute(asked, keeping).state == "done"
    assert store.model(run).is_dir()


def test_the_perplexity_of_an_adapted_encoder_is_recorded_under_its_seed(planned, treebanks):
    store, runs = planned
    asked = runs[AdaptRun]
    assert execute(asked, Context(str(store.folder), str(treebanks), "cpu")).state == "done"
    (record,) = store.answers(asked.run.id)
    assert (record.measure, record.target, record.seed) == ("perplexity", asked.run.language, 2)
    assert asked.run.settings.seed == 2


def test_runs_compute_with_one_thread_whatever_the_process_uses(planned, treebanks, tmp_path, monkeypatch):
    """So that results do not depend on the number of cores."""
    _, runs = planned
    seen = []
    monkeypatch.setattr(_Work, "do", lambda work: seen.append(torch.get_num_threads()))
    with threads(2):
        assert execute(runs[EncoderRun], Context(str(tmp_path), str(treebanks), "cpu")).state == "done"
        assert torch.get_num_threads() == 2
    assert seen == [1]


def test_the_log_has_a_line_after_every_so_many_steps_and_none_before_the_first():
    lines = []
    log = _Log("a run", lines.append, lambda: False)
    log.report("preparing text and vocabulary", 0)
    for step in range(2 * LOG_EVERY + 1):
        log.report("pretraining", step, 1000, "steps", f"loss {step}")
    expected = [Update("pretraining", step, 1000, "steps", f"loss {step}") for step in (LOG_EVERY, 2 * LOG_EVERY)]
    assert lines == [str(update) for update in expected]


def test_evaluations_are_counted_and_can_be_stopped_between_two(study, treebanks, tmp_path):
    """So that nobody reads the last step of training while fifty languages are evaluated."""
    store, updates = Store(tmp_path / "runs"), []
    several = study.model_copy(update={"conditions": (Condition(),), "seeds": (1,)})
    (asked,) = plan(several, store, corpora=Corpora(str(treebanks))).left
    context, number = Context(str(store.folder), str(treebanks), "cpu"), len(asked.questions)
    assert number > 1

    def evaluated():
        return [update.done for update in updates if update.stage == f"{asked.run.label}, evaluating"]

    with steps_reported(callback(updates.append)):
        assert execute(asked, context, stop=lambda: evaluated()[-1:] == [1]).state == "stopped"
        assert evaluated() == [0, 1]
        assert store.answered(asked.run.id) == {asked.questions[0].id}
        updates.clear()
        assert execute(asked, context).state == "done"
    assert evaluated() == list(range(number))
    assert store.answered(asked.run.id) == {question.id for question in asked.questions}


def test_answers_that_are_computed_together_are_counted_one_by_one(study, treebanks, tmp_path, monkeypatch):
    store, updates = Store(tmp_path / "runs"), []
    several = study.model_copy(update={"conditions": (Condition(),), "seeds": (1,)})
    (asked,) = plan(several, store, corpora=Corpora(str(treebanks))).left

    def together(*args, **options):
        parts = list(answers(*args, **options))
        yield concatenated(results for results, _ in parts), {name: n for _, own in parts for name, n in own.items()}

    monkeypatch.setattr("crosslens.runs.execute.answers", together)
    with steps_reported(callback(updates.append)):
        assert execute(asked, Context(str(store.folder), str(treebanks), "cpu")).state == "done"
    counted = [(each.done, each.total) for each in updates if each.stage == f"{asked.run.label}, evaluating"]
    assert counted == [(0, len(asked.questions)), (len(asked.questions),) * 2]


def test_a_failure_that_cannot_be_kept_is_in_the_outcome_with_its_reason(planned, treebanks, tmp_path, monkeypatch):
    def fail(work):
        kept = work.store.folder / "failed"
        kept.rmdir()
        kept.touch()
        raise WorkError("the work failed")

    monkeypatch.setattr(_Work, "do", fail)
    outcome = execute(planned[1][EncoderRun], Context(str(tmp_path), str(treebanks), "cpu"))
    reason, of_store = outcome.tail.splitlines()
    assert (outcome.state, reason) == ("failed", "the work failed")
    assert of_store.startswith(f"{tmp_path} is not writable")


def test_the_log_of_an_encoder_says_how_many_seconds_it_took(planned, treebanks, tmp_path):
    asked, began = planned[1][AdaptRun], time.monotonic()
    assert execute(asked, Context(str(tmp_path), str(treebanks), "cpu")).state == "done"
    (seconds,) = re.findall(r"steps in (\d+) s, last loss", "\n".join(Store(tmp_path).log(asked.run.id)))
    assert int(seconds) <= time.monotonic() - began + 1


def test_the_log_of_a_run_goes_on_with_each_further_question(planned, treebanks, tmp_path):
    asked, context, store = planned[1][EncoderRun], Context(str(tmp_path), str(treebanks), "cpu"), Store(tmp_path)
    assert execute(replace(asked, questions=()), context).state == "done"
    before = store.log(asked.run.id)
    assert execute(asked, context).state == "done"
    after = store.log(asked.run.id)
    assert after[: len(before)] == before
    assert after[len(before)].endswith(f"run {asked.run.id}: {asked.run.label}")


def test_the_reason_of_a_run_that_a_process_lost_is_a_line_of_its_log(planned, tmp_path):
    run = planned[1][ModelRun].run
    outcome = lost(run, Context(str(tmp_path / "runs"), None, "cpu"), "its process ended")
    assert (outcome.run, outcome.label, outcome.state) == (run.id, run.label, "failed")
    assert Store(tmp_path / "runs").failed(run.id)
    assert (tmp_path / "runs" / "failed" / run.id / "log.txt").read_text("utf-8") == "its process ended\n"
