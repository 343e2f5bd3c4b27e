"""Freezing: exclude chosen layers of an encoder from training (Wu & Dredze 2019, section 4.3)."""

from collections.abc import Iterable
from dataclasses import replace

from torch import nn

from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.freeze import Freeze
from crosslens.encoders.layers import format_layers, parse_layers
from crosslens.encoders.models.held_weights import copy_sharing


def freeze(encoder: Encoder, layers: str | int | tuple[int, ...]) -> Encoder:
    """Freeze chosen layers of an encoder (Wu & Dredze 2019, section 4.3).

    Frozen parameters get no gradient, momentum or weight decay. Dropout inside them stays active in training, as in the
    published code.

    Args:
        encoder: not modified.
        layers: ``0-3``: the embeddings and layers 1 to 3. Parameters shared between layers, such as mDeBERTa's relative
            positions, are frozen with any of them, so that a frozen layer computes the same throughout training.

    Returns:
        A copy, which shares the memory of the frozen tensors. Its last change lists them and those that layers
        share.

    Raises:
        EncoderError: for layers that are invalid or do not exist.

    Examples:
        >>> frozen = xl.freeze(encoder, "0-2")
        >>> frozen.condition.label, len(frozen.changes[-1].tensors)
        ('reference frozen 0-2', 37)
    """
    require_encoder(encoder)
    chosen = parse_layers(layers, encoder.depth)
    frozen: list[nn.Parameter] = []
    for layer in chosen:
        if layer:
            frozen += encoder.own(layer).values()
        else:
            frozen += encoder.outside(everything=False).values()
    shared = encoder.shared_names(chosen)
    frozen += [encoder.shared[name] for name in shared]
    copied = _sharing(encoder, frozen)
    names = {id(parameter): name for name, parameter in encoder.model.named_parameters()}
    tensors = tuple(names[id(parameter)] for parameter in frozen)
    intervention = Freeze(layers=format_layers(chosen))
    return copied.changed(Change(intervention, tensors=tensors, shared=shared), since=encoder)


def frozen_whole(encoder: Encoder) -> Encoder:
    """Freeze all parameters of a copy without recording a change, for readouts on a frozen encoder."""
    return _sharing(encoder, encoder.model.parameters())


def _sharing(encoder: Encoder, frozen: Iterable[nn.Parameter]) -> Encoder:
    """Return a copy in which these parameters are frozen; it shares the memory of all frozen ones."""
    fixed = {id(parameter) for parameter in frozen}
    fixed |= {id(parameter) for parameter in encoder.model.parameters() if not parameter.requires_grad}
    named = dict(encoder.model.named_parameters())
    model = copy_sharing(encoder.model, (parameter for parameter in named.values() if id(parameter) in fixed))
    for name, parameter in named.items():
        copied = model.get_parameter(name)
        copied.requires_grad_(id(parameter) not in fixed)
        copied.grad = None
    return replace(encoder, model=model)
