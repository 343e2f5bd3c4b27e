"""Gradient checkpointing: the same gradients with less memory."""

import copy

import pytest
import torch

from crosslens.encoders.freeze import freeze
from crosslens.errors import RequestError
from crosslens.training.memory.recompute import recomputed
from gradients import assert_same_gradients, assert_same_losses
from toy_architectures import IDS, MASK, SETTINGS, trained
from toy_trainings import RECIPE, watched

KINDS = sorted(set(SETTINGS) - {"xlm", "bilstm"})


def gradients(encoder):
    torch.manual_seed(1)  # dropout
    states = encoder.states(IDS, MASK)
    weights = torch.linspace(-1, 1, states.numel()).view_as(states)
    (states * weights).sum().backward()
    found = [None if p.grad is None else p.grad.clone() for p in encoder.model.parameters()]
    encoder.model.zero_grad()
    return found


def kept_bytes(encoder):
    """Bytes that the forward pass keeps for the backward pass."""
    sizes = {}

    def pack(tensor):
        sizes[tensor.data_ptr()] = tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        encoder.states(IDS, MASK)
    return sum(sizes.values())


@pytest.mark.rounding
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_the_same_with_dropout_too(kind):
    encoder = trained(kind)
    right = gradients(encoder)
    with recomputed(encoder):
        ours = gradients(encoder)
    assert_same_gradients(ours, right)
    assert not any("forward" in vars(layer) for layer in encoder.layers)


def test_less_is_kept_above_frozen_layers():
    encoder = trained("bert")
    whole = kept_bytes(encoder)
    with recomputed(encoder):
        assert kept_bytes(encoder) < whole / 2
    frozen = freeze(copy.deepcopy(encoder), "0-1")
    with recomputed(frozen):
        assert "forward" not in vars(frozen.layers[0])
        assert "forward" in vars(frozen.layers[1])
    assert not any("forward" in vars(layer) for layer in frozen.layers)


def test_an_architecture_without_single_layers_is_refused():
    with pytest.raises(RequestError, match="gradient checkpointing does not work for xlm"), recomputed(trained("xlm")):
        pass


@pytest.mark.rounding
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_training_is_the_same(precision, encoder, toy):
    recipe = RECIPE.model_copy(update={"epochs": 1, "precision": precision, "encoder_dropout": "checkpoint"})
    again = recipe.model_copy(update={"gradient_checkpointing": "layers"})
    (_, first, losses), (_, other, others) = (watched(encoder, "pos", toy, each) for each in (recipe, again))
    assert len(losses) > 1
    if precision == "float32":
        assert_same_gradients(other, first)
        assert_same_losses(others, losses)
    else:
        assert others == pytest.approx(losses, rel=1e-2)
