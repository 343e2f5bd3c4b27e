"""Swapped and reverted layers and added changes, over all families."""

import copy
from dataclasses import replace

import pytest
import torch

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.swap import Add, Swap
from crosslens.encoders.reinit import random_init
from crosslens.errors import EncoderError, RequestError
from toy_architectures import bits, changed, inside


@pytest.fixture(scope="module")
def trained(loaded):
    """A copy with other parameters, as after fine-tuning."""
    copied = replace(loaded, model=copy.deepcopy(loaded.model), origin=loaded.digest)
    with torch.no_grad():
        for parameter in copied.model.parameters():
            parameter.add_(0.01)
    return copied


@pytest.fixture(scope="module")
def adapted(loaded):
    """A copy changed by another training, differently in each parameter."""
    copied = replace(loaded, model=copy.deepcopy(loaded.model))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in copied.model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.02)
    return copied


def add(encoder, layers, other, pretrained, scale=1.0):
    return Add(layers=layers, other="other", scale=scale).take(encoder, other, pretrained)


def swap(encoder, layers, other):
    return Swap(layers=layers, other="other").take(encoder, other)


def test_swapped_layers_have_the_bits_of_the_other_encoder_and_the_rest_keeps_its_own(loaded, trained):
    result = bits(swap(trained, "2", loaded))
    taken = inside(trained, 2)
    assert taken
    assert changed(bits(trained), result) == taken
    assert all(torch.equal(result[name], bits(loaded)[name]) for name in taken)


def test_the_whole_encoder_is_the_other_encoder(loaded, trained):
    result = swap(trained, "0,all", loaded)
    assert not changed(bits(loaded), bits(result))
    assert result.digest == loaded.digest
    assert not changed(bits(loaded), bits(Condition(revert="0,all").interventions[0].apply(trained, seed=1)))


def test_reverting_returns_pretrained_layers_and_says_so(loaded, trained):
    result = Condition(revert="1-2").interventions[0].apply(trained, seed=1)
    assert changed(bits(trained), bits(result)) == inside(trained, 1, 2)
    assert not changed({n: b for n, b in bits(loaded).items() if n in inside(loaded, 1, 2)}, bits(result))
    assert result.condition.text == '{"revert": "1-2"}'
    assert set(result.changes[-1].tensors) == inside(trained, 1, 2)
    assert not changed(bits(trained), bits(trained))


@pytest.mark.parametrize("scale", [1.0, 0.5, -2.0])
def test_an_added_change_is_that_of_the_other_training_in_these_layers_alone(loaded, trained, adapted, scale):
    result, before = bits(add(trained, "2", adapted, loaded, scale)), bits(trained)
    assert changed(before, result) == inside(trained, 2)
    own, other, pretrained = (dict(each.model.named_parameters()) for each in (trained, adapted, loaded))
    for name in inside(trained, 2):
        expected = own[name] + scale * (other[name] - pretrained[name])
        torch.testing.assert_close(result[name], expected, atol=1e-6, rtol=0, msg=name)


def test_the_change_added_to_the_pretrained_encoder_is_the_other_encoder(loaded, adapted):
    result = add(loaded, "0,all", adapted, loaded).model.state_dict()
    assert result
    for name, tensor in adapted.model.state_dict().items():
        torch.testing.assert_close(result[name], tensor, atol=1e-6, rtol=0, msg=name)


def test_no_change_adds_nothing(loaded, trained, adapted):
    for unchanged in (add(trained, "0,all", loaded, loaded), add(trained, "0,all", adapted, loaded, 0.0)):
        result, before = unchanged.model.state_dict(), trained.model.state_dict()
        assert result.keys() == before.keys() != set()
        assert all(torch.equal(result[name], before[name]) for name in before)


def test_a_change_is_recorded_with_its_scale_and_the_other_encoder(encoder):
    other = random_init(encoder, "0,all", seed=1)
    taken = add(encoder, "1", other, encoder, 0.5)
    digest = other.digest[:12]
    assert taken.condition.text == f'{{"add": "1", "add_from": "other", "add_digest": "{digest}", "add_scale": 0.5}}'
    assert taken.condition.label == "add change of 1 from other × 0.5"
    assert Condition(add="1", add_from="runs/adapted").label == "add change of 1 from adapted"
    with pytest.raises(RequestError):
        Condition.read({"add": "1", "add_from": "other", "add_scale": "inf"})


def test_a_change_from_another_pretrained_encoder_is_refused(encoder):
    changed_since = replace(random_init(encoder, "1", seed=1), name="other")
    with pytest.raises(EncoderError, match=r"^other is not the encoder that was fine-tuned") as refused:
        add(encoder, "1", encoder, changed_since)
    assert "pretrained=" in str(refused.value)


def test_labels_name_the_other_encoder_and_no_folder():
    assert Condition(swap="1-2", swap_from="/home/me/runs/adapted/model").label == "swap 1-2 from adapted"
    assert Condition(swap="1-2", swap_from="google/mt5-small").label == "swap 1-2 from google/mt5-small"


def test_another_encoder_by_that_name_is_refused(encoder):
    other = replace(random_init(encoder, "1", seed=1), origin="0" * 64)
    with pytest.raises(EncoderError, match="is not the encoder that was fine-tuned"):
        Condition(revert="1").interventions[0].apply(other, seed=1)


def test_layers_of_another_shape_are_refused(encoder, shallow):
    with pytest.raises(EncoderError, match="do not fit"):
        swap(encoder, "1", shallow)
    with pytest.raises(RequestError, match="needs another model"):
        Condition(swap="1", swap_from="x").interventions[0].apply(encoder, seed=1)


def test_all_layers_are_taken_without_the_embeddings_and_the_other_encoder_is_named(encoder):
    other = random_init(encoder, "0,all", seed=1)
    taken, layers = swap(encoder, "all", other), inside(encoder, *range(1, encoder.depth + 1))
    assert layers
    assert changed(bits(encoder), bits(taken)) <= layers
    assert not changed(bits(other), bits(taken)) & layers
    assert taken.changes[-1].intervention.other_digest == other.digest[:12] != encoder.digest[:12]
