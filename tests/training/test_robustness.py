"""Training that survives: micro-batches, a full memory, a kill, several processes, long sentences, bfloat16."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from crosslens.errors import RequestError, TrainingError
from crosslens.tasks import TASKS
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe
from gradients import assert_same_gradients, assert_same_losses, recorded_gradients

RECIPE = Recipe(batch=4, learning_rate=1e-3, epochs=3, encoder_dropout="off", head_dropout=0.0)


@pytest.fixture(params=sorted(TASKS))
def task(request):
    return request.param


def weights(model):
    tensors = {f"encoder.{name}": p.detach() for name, p in model.encoder.model.named_parameters()}
    return tensors | {f"head.{name}": p.detach() for name, p in model.head.named_parameters()}


def assert_equal(one, other):
    mine, its = weights(one), weights(other)
    assert all(torch.equal(mine[name], its[name]) for name in mine)


def run(encoder, task, toy, recipe=RECIPE, **more):
    return finetune(encoder, task, train=toy(task=task), dev=toy("dev", task=task), recipe=recipe, seed=1, **more)


def watched(encoder, task, toy, recipe, **more):
    """A training: its model, the gradients of its first step and the losses of all; nothing is clipped."""
    losses = []
    with recorded_gradients() as steps:
        model = run(
            encoder,
            task,
            toy,
            recipe.model_copy(update={"clip": None}),
            stepped=lambda _, loss: losses.append(loss),
            **more,
        )
    return model, steps[0], losses


@pytest.mark.rounding
def test_micro_batches_change_nothing_without_dropout(encoder, task, toy):
    """R12: one batch, or as many as it has sentences: the same gradient, and the same number of steps."""
    model, expected, losses = watched(encoder, task, toy, RECIPE)
    for micro in (1, 3):
        other, gradients, other_losses = watched(encoder, task, toy, RECIPE.model_copy(update={"micro_batch": micro}))
        assert other.facts["steps"] == model.facts["steps"]
        assert_same_gradients(gradients, expected)
        assert_same_losses(other_losses, losses)


def fail_at(monkeypatch, calls, error):
    """Let the memory be full at these readings of a training batch, counted from 1."""
    import crosslens.training.epochs as module

    original, read = module.task_batch, []

    def full(model, corpus, windows):
        read.append(len(windows))
        if len(read) in calls:
            raise error
        return original(model, corpus, windows)

    monkeypatch.setattr(module, "task_batch", full)
    return read


@pytest.mark.rounding
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried to"),
        RuntimeError("MPS backend out of memory (MPS allocated: 5.00 GB)"),
    ],
)
def test_a_full_memory_halves_the_batches_once_with_the_same_gradients(monkeypatch, encoder, toy, error):
    """What was summed before the memory was full is thrown away, and summed again from halves."""
    recipe = RECIPE.model_copy(update={"batch": 6, "micro_batch": 4})
    _, expected, losses = watched(encoder, "parsing", toy, recipe)
    read = fail_at(monkeypatch, {2}, error)
    lines = []
    model, gradients, other_losses = watched(
        encoder, "parsing", toy, recipe, progress=lambda update: lines.append(update.line)
    )
    assert read[:6] == [4, 2, 2, 2, 1, 1]
    assert read[6:10] == [2, 2, 1, 1]
    assert model.facts["halved_batches"] == 1
    warning = "step 1: out of memory; micro-batches are halved from now on; the result is the same up to rounding"
    assert [line for line in lines if "memory" in line] == [warning]
    assert lines.index(warning) == 0
    assert_same_gradients(gradients, expected)
    assert_same_losses(other_losses, losses)


@pytest.mark.rounding
def test_halved_micro_batches_with_dropout_are_another_result_and_say_so(monkeypatch, encoder, toy):
    """Masks are drawn for whole tensors, so halves get others: never silently under the same run id."""
    recipe = RECIPE.model_copy(update={"head_dropout": 0.3})
    whole = run(encoder, "pos", toy, recipe)
    fail_at(monkeypatch, {1}, MemoryError())
    lines = []
    halved = run(encoder, "pos", toy, recipe, progress=lambda update: lines.append(update.line))
    assert halved.facts["run"] == whole.facts["run"]
    assert halved.facts["weights"] != whole.facts["weights"]
    assert (whole.provenance["training_halved_batches"], halved.provenance["training_halved_batches"]) == (0, 1)
    assert lines[0] == (
        "step 1: out of memory; micro-batches are halved from now on. With dropout the result differs from that of a"
        " machine with more memory, under the same run id; micro_batch=2 gives the same result on both"
    )
    monkeypatch.undo()
    chosen = run(encoder, "pos", toy, recipe.model_copy(update={"micro_batch": 2}))
    assert chosen.facts["run"] != whole.facts["run"]


def test_a_memory_that_stays_full_ends_the_training(monkeypatch, encoder, toy):
    fail_at(monkeypatch, {1, 2}, MemoryError())
    with pytest.raises(TrainingError, match=r"out of memory at step 1 of 6 .*micro_batch"):
        run(encoder, "pos", toy)


def test_other_errors_are_not_taken_for_a_full_memory(monkeypatch, encoder, toy):
    fail_at(monkeypatch, {2}, RuntimeError("shapes do not match"))
    with pytest.raises(RuntimeError, match="shapes do not match"):
        run(encoder, "pos", toy)


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
    assert_equal(whole, run(encoder, task, toy, recipe, state=state, save_every=1, progress=lambda update: 1 / 0))


def test_a_state_of_another_training_is_refused(tmp_path, encoder, toy):
    state = tmp_path / "run.state"
    run(encoder, "pos", toy, state=state, save_every=1)
    for other in (RECIPE.model_copy(update={"epochs": 4}), RECIPE.model_copy(update={"batch": 2})):
        with pytest.raises(RequestError, match=r"run.state holds an unfinished training with other settings"):
            run(encoder, "pos", toy, other, state=state)
    state.write_bytes(state.read_bytes()[:-500])
    with pytest.raises(TrainingError, match=r"cannot resume from .*run.state"):
        run(encoder, "pos", toy, state=state)


@pytest.mark.rounding
def test_two_processes_are_one_with_the_whole_batch(tmp_path, tiny_bert, treebanks, encoder, toy):
    """torchrun and gloo: the gradients and losses of one process, to rounding; both end with the same bits."""
    script = tmp_path / "train.py"
    recipe = RECIPE.model_copy(update={"select": "last", "clip": None})
    (tmp_path / "recipe.json").write_text(recipe.model_dump_json())
    script.write_text(
        "import sys, torch\n"
        "from pathlib import Path\n"
        "torch.set_num_threads(1)\n"
        "import crosslens as xl\n"
        "from crosslens.training.distributed import join_processes, leave_processes, processes\n"
        "from gradients import recorded_gradients\n"
        "encoder, data, folder = sys.argv[1:]\n"
        "join_processes('cpu')\n"
        "encoder = xl.load_encoder(encoder, device='cpu')\n"
        "train = xl.load_corpus('ud/en_toy:train', data=data)\n"
        "recipe = xl.Recipe.model_validate_json(Path(folder, 'recipe.json').read_text())\n"
        "losses = []\n"
        "with recorded_gradients() as steps:\n"
        "    model = xl.finetune(\n"
        "        encoder, 'parsing', train=train, recipe=recipe, seed=1, stepped=lambda _, loss: losses.append(loss)\n"
        "    )\n"
        "assert model.facts['processes'] == 2\n"
        "state = {**model.encoder.model.state_dict(), **model.head.state_dict()}\n"
        "torch.save((state, steps[0], losses), Path(folder, f'{processes().rank}.pt'))\n"
        "leave_processes()\n"
    )
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    here = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": here}
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(port)]
    command += [str(script), str(tiny_bert), str(treebanks), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    (first, *seen), (second, *_) = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    assert first
    assert all(torch.equal(first[key], second[key]) for key in first)
    _, expected, losses = watched(encoder, "parsing", toy, recipe)
    assert_same_gradients(seen[0], expected)
    assert_same_losses(seen[1], losses)


def test_bfloat16_trains_and_predicts(encoder, task, toy):
    """What the encoder computes in; the parameters, the loss and the result stay float32."""
    losses = []
    recipe = RECIPE.model_copy(update={"precision": "bfloat16", "epochs": 8, "select": "last"})
    model = run(encoder, task, toy, recipe, stepped=lambda step, loss: losses.append(loss))
    assert np.mean(losses[-4:]) < np.mean(losses[:4])
    assert all(p.dtype == torch.float32 for p in weights(model).values())
    exact = run(encoder, task, toy, RECIPE.model_copy(update={"epochs": 8, "select": "last"}))
    assert not all(torch.equal(a, b) for a, b in zip(weights(model).values(), weights(exact).values(), strict=True))
    corpus = toy(task=task)
    corpus.require_same_words(predict(model, corpus))


@pytest.mark.parametrize("task", ["pos", "parsing", "ner"])
def test_long_training_sentences_are_read_whole_and_counted(encoder, task, toy):
    corpus = toy(task=task)
    window = RECIPE.model_copy(update={"window": 12, "context": 4, "select": "last"})
    model = run(encoder, task, toy, window)
    assert model.facts["train_split_sentences"] > 0
    assert model.facts["train_words"] == corpus.words
    assert [len(s) for s in predict(model, corpus).sentences] == [len(s) for s in corpus.sentences]


def test_an_unknown_score_to_select_by_is_refused(encoder, toy):
    with pytest.raises(RequestError, match=r"parsing has no score 'laz' on ud/en_toy:dev .did you mean 'las'"):
        run(encoder, "parsing", toy, RECIPE.model_copy(update={"select_by": "laz"}))


def test_the_best_epoch_by_another_score(encoder, toy):
    model = run(encoder, "parsing", toy, RECIPE.model_copy(update={"select_by": "uas", "epochs": 4}))
    predicted = predict(model, toy("dev"))
    uas = next(s.value for s in TASKS["parsing"].score(toy("dev"), predicted) if s.metric == "uas")
    assert uas == model.facts["dev_score"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_the_command_goes_on_after_a_kill(tmp_path, tiny_bert, treebanks):
    """kill -9 in the middle, then the same command: the same results as without."""
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
            "epochs=60",
            "--set",
            "batch=2",
            "--set",
            "select=last",
            "--save-every",
            "20",
            "--keep-model",
            "--out",
            str(tmp_path / out),
        ]

    process = subprocess.Popen(command("killed"), env=environment, stderr=subprocess.PIPE)
    while not (tmp_path / "killed.state").exists():
        assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stderr.close()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["killed.state"]
    again = subprocess.run(command("killed"), env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "resuming from" in again.stderr
    whole = subprocess.run(command("whole"), env=environment, capture_output=True, text=True)
    assert whole.returncode == 0, whole.stderr
    for file in ("model/model.safetensors", "model/head.safetensors"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["killed", "whole"]
