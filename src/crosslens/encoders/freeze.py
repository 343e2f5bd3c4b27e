"""Freezing: exclude chosen layers of an encoder from training (Wu & Dredze 2019, section 4.3)."""

import copy
from dataclasses import replace

from torch import nn

from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.freeze import Freeze
from crosslens.encoders.layers import format_layers, parse_layers


def freeze(encoder: Encoder, layers: str | int | tuple[int, ...]) -> Encoder:
    """Freeze chosen layers of an encoder (Wu & Dredze 2019, section 4.3).

    Frozen parameters get no gradient, momentum or weight decay. Dropout inside them stays active in training, as in the
    published code.

    Args:
        encoder: not modified.
        layers: ``0-3``: the embeddings and layers 1 to 3. Parameters shared between layers, such as mDeBERTa's relative
            positions, are frozen with any of them, so that a frozen layer computes the same throughout training.

    Returns:
        A copy whose last change lists the frozen tensors and those shared between layers.

    Raises:
        EncoderError: for a layer that does not exist.

    Examples:
        >>> frozen = xl.freeze(encoder, "0-2")
        >>> frozen.condition.label, len(frozen.changes[-1].tensors)
        ('reference frozen 0-2', 37)
    """
    chosen = parse_layers(layers, encoder.depth)
    model = copy.deepcopy(encoder.model)
    copied = replace(encoder, model=model)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    frozen: list[nn.Parameter] = []
    for layer in chosen:
        if layer:
            frozen += copied.own(layer).values()
        else:
            frozen += copied.outside(everything=False).values()
    shared = copied.shared_names(chosen)
    frozen += [copied.shared[name] for name in shared]
    for parameter in frozen:
        parameter.requires_grad_(False)
        parameter.grad = None
    intervention = Freeze(layers=format_layers(chosen))
    tensors = tuple(names[id(parameter)] for parameter in frozen)
    return copied.changed(Change(intervention, tensors=tensors, shared=shared), since=encoder)


def frozen_whole(encoder: Encoder) -> Encoder:
    """Freeze all parameters of a copy without recording a change, for readouts on a frozen encoder."""
    copied = replace(encoder, model=copy.deepcopy(encoder.model))
    for parameter in copied.model.parameters():
        parameter.requires_grad_(False)
        parameter.grad = None
    return copied
