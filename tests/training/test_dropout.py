"""Which dropout is active in training."""

import copy
import dataclasses

import pytest
import torch

from toy_trainings import RECIPE, run, weights


@pytest.mark.parametrize(("mode", "same"), [("off", True), ("trained", False)])
def test_without_dropout_in_the_encoder_it_is_trained_as_one_that_has_none(encoder, toy, mode, same):
    model = copy.deepcopy(encoder.model)
    dropouts = [part for part in model.modules() if isinstance(part, torch.nn.Dropout)]
    assert any(part.p > 0 for part in dropouts)
    for part in dropouts:
        part.p = 0.0
    recipe = RECIPE.model_copy(update={"encoder_dropout": mode})
    without = dataclasses.replace(encoder, model=model)
    one, other = (weights(run(each, "pos", toy, recipe)) for each in (encoder, without))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one) == same
