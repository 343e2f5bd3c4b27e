"""A toy training whose weights tell low-rank updates apart, and the states of an encoder."""

import torch

from crosslens.encoders.encoder import layer_outputs
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe
from toy_architectures import IDS, MASK, tagged

RECIPE = Recipe(batch=2, epochs=3, learning_rate=1e-2, select="last", encoder_dropout="off")


def states(encoder):
    with torch.inference_mode():
        return layer_outputs(encoder, IDS, MASK)


def trained(encoder, seed=1):
    return finetune(encoder, "pos", train=tagged(), recipe=RECIPE, seed=seed)
