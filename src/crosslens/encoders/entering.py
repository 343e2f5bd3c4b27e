"""Enter the layers of an encoder above a layer: compute the upper layers from states that were computed before."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from crosslens.encoders.encoder import Encoder


def separate_layers(encoder: "Encoder") -> bool:
    """Whether each layer is a separate module, called once with the states as its first argument."""
    separate = len({id(layer) for layer in encoder.layers}) == encoder.depth
    return len(encoder.family.layers) == 1 and separate and not encoder.family.time_first


@contextmanager
def entering(encoder: "Encoder", layer: int, states: "torch.Tensor") -> Iterator[None]:
    """Make the embeddings and the lowest layers return given states inside the block.

    Args:
        encoder: encoder with `separate_layers`. Where a layer passes on more than states, the result is wrong.
        layer: the highest layer that is not computed.
        states: ``(windows, length, width)`` output of this layer.
    """

    def return_states(*args: Any, **kwargs: Any) -> "torch.Tensor":
        return states

    lowest = [*encoder.embeddings, *encoder.layers[:layer]]
    for module in lowest:
        module.forward = return_states  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        for module in lowest:
            del module.forward
