"""Readout: a network on the states of an encoder's layers, which task heads read in place of the top layer."""

import torch
from torch import nn


class Readout(nn.Module):
    """A network on the states of chosen layers.

    It maps their states, ``(layers, windows, length, width of the encoder)`` float32, and the mask of the batch,
    ``(windows, length)``, to ``(windows, length, width)``.

    Args:
        layers: input layers, in this order; 0 is the embeddings.
        width: size of the output states.
    """

    def __init__(self, *, layers: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.layers, self.width = layers, width

    def select(self, outputs: list[torch.Tensor]) -> torch.Tensor:
        """Stack the states of the input layers: ``(layers, windows, length, width of the encoder)`` float32."""
        return torch.stack([outputs[layer].float() for layer in self.layers])
