"""The warning of a training that is too short."""

import re

import pytest

from crosslens.training.finetune import finetune
from crosslens.training.recipe import FEW_STEPS, find_recipe


@pytest.mark.parametrize("batch", [1, 4])
def test_few_steps_are_reported_with_the_epochs_that_suffice(encoder, toy, batch):
    def trained(epochs):
        updates = []
        recipe = find_recipe("small", "pos", {"epochs": epochs, "batch": batch})
        model = finetune(encoder, "pos", train=toy(), recipe=recipe, progress=updates.append)
        return model.facts["steps"], [str(update) for update in updates if "under-trained" in str(update)]

    steps, (warning,) = trained(2)
    assert warning.startswith(f"with {steps} steps (2 epochs) of training, ")
    (enough,) = re.findall(r"set epochs=(\d+)$", warning)
    fewest = -(-FEW_STEPS // (steps // 2))
    assert trained(fewest) == (fewest * steps // 2, [])
    assert trained(fewest - 1)[1]
    assert 2 * FEW_STEPS <= int(enough) * steps / 2 < 2 * FEW_STEPS + steps / 2
