"""Which dropout is active in training."""

import copy
import dataclasses
from types import SimpleNamespace

import pytest
import torch

from crosslens.encoders.freeze import freeze
from crosslens.training import epochs
from toy_trainings import RECIPE, run, weights


@pytest.mark.parametrize(("mode", "same"), [("off", True), ("trained", False)])
def test_without_dropout_in_the_encoder_it_is_trained_as_one_that_has_none(encoder, toy, mode, same):
    recipe = RECIPE.model_copy(update={"encoder_dropout": mode})
    assert same_training(toy, (encoder, recipe), (without_dropout(encoder), recipe)) == same


@pytest.mark.parametrize(("mode", "same"), [("off", True), ("trained", True), ("checkpoint", False)])
def test_frozen_layers_drop_out_only_where_all_layers_do(encoder, toy, mode, same):
    """Nothing but the head is trained."""
    recipe = RECIPE.model_copy(update={"encoder_dropout": mode})
    frozen, without = (freeze(each, "0-4") for each in (encoder, without_dropout(encoder)))
    assert same_training(toy, (frozen, recipe), (without, recipe)) == same


def test_a_frozen_layer_above_trained_ones_does_not_drop_out_with_them(encoder, toy):
    trained, whole = (RECIPE.model_copy(update={"encoder_dropout": mode}) for mode in ("trained", "checkpoint"))
    frozen, without = (freeze(each, "4") for each in (encoder, without_dropout(encoder, ".3.")))
    assert same_training(toy, (frozen, trained), (without, whole))
    assert not same_training(toy, (frozen, trained), (frozen, whole))


@pytest.mark.parametrize(("size", "mode", "noted"), [(2, "trained", True), (2, "off", False), (1, "trained", False)])
def test_training_with_dropout_in_several_processes_says_that_one_would_train_other_weights(
    encoder, toy, monkeypatch, size, mode, noted
):
    monkeypatch.setattr(epochs, "processes", lambda: SimpleNamespace(size=size, rank=0))
    lines = []
    recipe = RECIPE.model_copy(update={"encoder_dropout": mode, "epochs": 1})
    run(encoder, "pos", toy, recipe, progress=lambda update: lines.append(update.line))
    assert any(f"weights trained by {size} processes differ" in line for line in lines) == noted
    assert lines


def without_dropout(encoder, place=""):
    """The encoder with no dropout in parts with this in their name."""
    model = copy.deepcopy(encoder.model)
    dropouts = [part for name, part in model.named_modules() if isinstance(part, torch.nn.Dropout) and place in name]
    assert any(part.p > 0 for part in dropouts)
    for part in dropouts:
        part.p = 0.0
    return dataclasses.replace(encoder, model=model)


def same_training(toy, *trainings):
    one, other = (weights(run(encoder, "pos", toy, recipe)) for encoder, recipe in trainings)
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)
