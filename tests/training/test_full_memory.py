"""Micro-batches and a full memory: the same gradients from smaller parts."""

from types import SimpleNamespace

import pytest
import torch

from crosslens.errors import TrainingError
from gradients import assert_same_gradients, assert_same_losses
from toy_trainings import RECIPE, run, watched


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
    assert next(filter(None, lines)) == warning
    assert_same_gradients(gradients, expected)
    assert_same_losses(other_losses, losses)


@pytest.mark.parametrize(
    ("batch", "micro_batch", "processes", "half"),
    [(6, None, 1, 3), (5, None, 1, 3), (6, 4, 1, 2), (4, 16, 1, 2), (16, None, 4, 2), (16, 3, 4, 2)],
)
def test_the_advised_micro_batch_is_half_of_what_a_process_reads_at_once(
    monkeypatch, encoder, toy, batch, micro_batch, processes, half
):
    """A larger one than the share of a process would be read as a whole, and fill the memory again."""
    import crosslens.training.epochs as module

    monkeypatch.setattr(module, "processes", lambda: SimpleNamespace(size=processes, rank=0))
    recipe = RECIPE.model_copy(update={"head_dropout": 0.3, "batch": batch, "micro_batch": micro_batch})
    fail_at(monkeypatch, {1}, MemoryError())
    lines = []
    run(encoder, "pos", toy, recipe, progress=lambda update: lines.append(update.line))
    (warning,) = (line for line in lines if "out of memory" in line)
    assert warning.endswith(f"; micro_batch={half} gives the same result on both")


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
    assert next(filter(None, lines)) == (
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
