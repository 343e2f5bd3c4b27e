"""Killed trainings resume to the same bits."""

import os
import signal
import subprocess
import sys

import pytest

import interrupted
from crosslens.encoders.freeze import freeze
from crosslens.errors import RequestError, TrainingError
from toy_trainings import RECIPE, assert_equal, run


class Killed(Exception):
    pass


@pytest.mark.parametrize("at", [1, 2, 3, 5])
def test_killed_at_any_step_it_goes_on_to_the_same_bits(tmp_path, encoder, task, toy, at):
    recipe = RECIPE.model_copy(update={"encoder_dropout": "checkpoint", "head_dropout": 0.1})
    whole = run(encoder, task, toy, recipe)

    def die(update):
        if update.done == at:
            raise Killed

    state = tmp_path / "run.state"
    with pytest.raises(Killed):
        run(encoder, task, toy, recipe, state=state, save_every=1, progress=die)
    steps = []
    again = run(encoder, task, toy, recipe, state=state, save_every=1, stepped=lambda step, _: steps.append(step))
    assert steps == list(range(at + 1, 7))
    assert_equal(whole, again)
    assert again.facts["dev_score"] == whole.facts["dev_score"]
    assert again.facts["epoch"] == whole.facts["epoch"]
    # Done, the state says so: the model is made from it without a step.
    assert_equal(whole, run(encoder, task, toy, recipe, state=state, save_every=1, stepped=lambda *_: 1 / 0))


@pytest.mark.parametrize("select", ["best", "average"])
def test_with_frozen_layers_it_goes_on_to_the_same_bits(tmp_path, encoder, toy, select):
    recipe, state = RECIPE.model_copy(update={"select": select}), tmp_path / "run.state"
    whole = run(freeze(encoder, "0-2"), "pos", toy, recipe)

    def die(update):
        if update.done == 4:
            raise Killed

    with pytest.raises(Killed):
        run(freeze(encoder, "0-2"), "pos", toy, recipe, state=state, save_every=1, progress=die)
    again = run(freeze(encoder, "0-2"), "pos", toy, recipe, state=state, save_every=1)
    assert_equal(whole, again)
    assert again.facts["dev_score"] == whole.facts["dev_score"]


def test_the_training_time_counts_what_was_trained_before_an_interruption(tmp_path, encoder, toy, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def step(done, _loss):
        clock[0] += 10
        if done == 3 and not resumed:
            raise Killed

    state, resumed = tmp_path / "run.state", False
    with pytest.raises(Killed):
        run(encoder, "pos", toy, state=state, save_every=1, stepped=step)
    resumed = True
    clock[0] += 1000
    assert run(encoder, "pos", toy, state=state, save_every=1, stepped=step).facts["seconds"] == 50  # saved after 20


PLATEAU = RECIPE.model_copy(update={"schedule": "plateau", "learning_rate": 1e-30, "epochs": 4})
"""It ends after the second of four epochs: nothing moves, so the dev score does not rise."""


@pytest.mark.parametrize(("recipe", "every"), [(RECIPE, 2), (RECIPE, 4), (RECIPE, 5), (PLATEAU, 3)])
def test_a_state_kept_on_the_way_is_that_of_the_end_at_last(tmp_path, encoder, toy, recipe, every):
    state = tmp_path / "run.state"
    whole = run(encoder, "pos", toy, recipe, state=state, save_every=every)
    assert whole.facts["steps"] == (4 if recipe is PLATEAU else 6)
    assert_equal(whole, run(encoder, "pos", toy, recipe, state=state, save_every=every, stepped=lambda *_: 1 / 0))


def test_a_training_shorter_than_the_steps_between_states_keeps_none(tmp_path, encoder, toy):
    run(encoder, "pos", toy, state=tmp_path / "run.state", save_every=7)
    assert not (tmp_path / "run.state").exists()


@pytest.mark.parametrize("recipe", [RECIPE, PLATEAU])
def test_a_long_training_of_few_steps_keeps_its_last_state(tmp_path, encoder, toy, monkeypatch, recipe):
    """An interruption of what follows, such as the evaluation, would lose all of it."""
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def step(done, _loss):
        clock[0] += 60

    state = tmp_path / "run.state"
    whole = run(encoder, "pos", toy, recipe, state=state, save_every=7, stepped=step)
    assert_equal(whole, run(encoder, "pos", toy, recipe, state=state, save_every=7, stepped=lambda *_: 1 / 0))


def test_a_state_of_another_training_is_refused(tmp_path, encoder, toy):
    state = tmp_path / "run.state"
    run(encoder, "pos", toy, state=state, save_every=1)
    for other in (RECIPE.model_copy(update={"epochs": 4}), RECIPE.model_copy(update={"batch": 2})):
        with pytest.raises(RequestError, match=r"run.state holds an unfinished training with other settings"):
            run(encoder, "pos", toy, other, state=state)
    state.write_bytes(state.read_bytes()[:-500])
    with pytest.raises(TrainingError, match=r"cannot resume from .*run.state"):
        run(encoder, "pos", toy, state=state)


def test_ctrl_c_in_the_middle_of_a_step_saves_the_state(tmp_path, encoder, toy, interruptible):
    whole = run(encoder, "pos", toy)
    state, steps = tmp_path / "run.state", []

    def press(step, loss):
        steps.append(step)
        if step == 2:
            signal.raise_signal(signal.SIGINT)
            steps.append("the step goes on")

    with pytest.raises(KeyboardInterrupt):
        run(encoder, "pos", toy, state=state, stepped=press)
    assert steps == [1, 2, "the step goes on"]
    assert state.exists()
    again = run(encoder, "pos", toy, state=state, stepped=lambda step, loss: steps.append(step))
    assert steps[3:] == [3, 4, 5, 6]
    assert_equal(whole, again)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_the_command_goes_on_after_a_kill(tmp_path, tmp_path_factory, tiny_bert, treebanks):
    """kill -9 before its second state is saved, then the same command: the same results as without."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}

    def command(out):
        return [
            sys.executable,
            "-m",
            "crosslens",
            "finetune",
            "parsing",
            str(tiny_bert),
            "--train",
            "ud/en_toy",
            "--test",
            "ud/fr_pud",
            "--data",
            str(treebanks),
            "--device",
            "cpu",
            "--set",
            "epochs=12",
            "--set",
            "batch=2",
            "--set",
            "select=last",
            "--save-every",
            "4",
            "--keep-model",
            "--out",
            str(tmp_path / out),
        ]

    second_state = interrupted.environment(tmp_path_factory.mktemp("site") / "hook", 2, "*/.killed.state.*")
    killed = subprocess.run(command("killed"), env=environment | second_state, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["killed.state"]
    again = subprocess.run(command("killed"), env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "resuming from" in again.stderr
    whole = subprocess.run(command("whole"), env=environment, capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    for file in ("model/model.safetensors", "model/head.safetensors"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["killed", "whole"]
