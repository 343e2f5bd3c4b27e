"""Every family on a second device: no tensor is left on the other one, and the numbers are the CPU's."""

import pytest
import torch

from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.interventions.read_as import read_as
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe
from toy_architectures import IDS, MASK, bits


@pytest.fixture
def moved(loaded, second_device):
    return load_encoder(loaded.name, device=second_device)


def on_cpu(encoder):
    return {name: tensor.detach().cpu() for name, tensor in bits(encoder).items()}


def equal(a, b):
    assert a
    assert a.keys() == b.keys()
    for name in a:
        torch.testing.assert_close(a[name], b[name], rtol=1e-4, atol=1e-4, msg=name)


def test_states(loaded, moved, second_device):
    with torch.no_grad():
        expected = layer_outputs(loaded, IDS, MASK)
        states = layer_outputs(moved, IDS.to(second_device), MASK.to(second_device))
    assert {tensor.device for tensor in states} == {second_device}
    for a, b in zip(expected, states, strict=True):
        scale = max(1.0, float(a.std()))  # small states are sums of large ones, with their rounding
        torch.testing.assert_close(a, b.cpu(), rtol=1e-4, atol=1e-4 * scale)


def test_reinit(loaded, moved):
    equal(bits(random_init(loaded, "0,all", seed=3)), on_cpu(random_init(moved, "0,all", seed=3)))


def test_without_the_causal_mask(loaded, moved, second_device, kind):
    if not loaded.family.decoder or kind == "xlnet":
        pytest.skip("has no causal mask")
    a, b = (read_as(each, bidirectional="all") for each in (loaded, moved))
    with torch.no_grad():
        expected, states = a.states(IDS, MASK), b.states(IDS.to(second_device), MASK.to(second_device))
    torch.testing.assert_close(expected[MASK.bool()], states.cpu()[MASK.bool()], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("task", ["pos", "parsing"])
def test_training(loaded, moved, toy, task):
    """The loss of every step: decisions would differ where rounding breaks ties."""
    recipe = Recipe(batch=3, epochs=1, learning_rate=1e-3, select="last")
    by_device = []
    for encoder in (loaded, moved):
        losses = []
        model = finetune(
            *(encoder, task),
            train=toy("train", task=task),
            recipe=recipe,
            stepped=lambda _, loss, losses=losses: losses.append(loss),
        )
        by_device.append(losses)
        assert len(evaluate(model, toy("test", task=task))) > 0
    assert len(by_device[0]) >= 2
    assert by_device[1] == pytest.approx(by_device[0], rel=2e-3)
