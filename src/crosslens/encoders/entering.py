"""Enter the layers of an encoder above a layer: compute the upper layers from states that were computed before."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import nn

    from crosslens.encoders.encoder import Encoder


def separate_layers(encoder: "Encoder") -> bool:
    """Whether each layer is a separate module, called once with the states as its first argument."""
    separate = len({id(layer) for layer in encoder.layers}) == encoder.depth
    return len(encoder.family.layers) == 1 and separate and not encoder.family.time_first


def entering(encoder: "Encoder", layer: int, states: "torch.Tensor") -> AbstractContextManager[None]:
    """Make the embeddings and the lowest layers return given states inside the block.

    Args:
        encoder: encoder with `separate_layers`. Where a layer passes on more than states, the result is wrong.
        layer: the highest layer that is not computed.
        states: ``(windows, length, width)`` output of this layer.
    """

    lowest = [*encoder.embeddings, *encoder.layers[:layer]]
    return forward_replaced(dict.fromkeys(lowest, lambda *arguments, **keywords: states))


@contextmanager
def forward_replaced(forwards: "Mapping[nn.Module, Callable[..., Any]]") -> Iterator[None]:
    """Replace the forward passes of modules inside the block."""
    for module, forward in forwards.items():
        module.forward = forward
    try:
        yield
    finally:
        for module in forwards:
            del module.forward
