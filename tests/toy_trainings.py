"""Trainings on the toy corpora, and what the tests compare of them."""

import torch

from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe
from gradients import recorded_gradients

RECIPE = Recipe(batch=4, learning_rate=1e-3, epochs=3, encoder_dropout="off", head_dropout=0.0)


def weights(model):
    tensors = {f"encoder.{name}": p.detach() for name, p in model.encoder.model.named_parameters()}
    return tensors | {f"head.{name}": p.detach() for name, p in model.head.named_parameters()}


def assert_equal(one, other):
    a, b = weights(one), weights(other)
    assert a.keys() == b.keys()
    assert all(torch.equal(a[name], b[name]) for name in a)


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


FAST = Recipe(batch=2, learning_rate=3e-3, epochs=4, select="last", encoder_dropout="off")
