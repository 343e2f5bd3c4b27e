"""Readout: a network on the states of an encoder's layers, which task heads read in place of the top layer."""

import torch
from torch import nn


class Readout(nn.Module):
    """A network on the states of some layers. Called with them, ``(layers, windows, length, width of the encoder)``
    float32, and the batch's mask ``(windows, length)``, it gives ``(windows, length, width)``.

    Args:
        layers: the numbers of the layers that it is given, in this order; 0 is the embeddings.
        width: of the states that it gives.
    """

    def __init__(self, *, layers: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.layers, self.width = layers, width

    def select(self, outputs: list[torch.Tensor]) -> torch.Tensor:
        """Stack the states of its layers: ``(layers, windows, length, width of the encoder)`` float32."""
        return torch.stack([outputs[layer].float() for layer in self.layers])
