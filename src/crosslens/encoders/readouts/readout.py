"""What may stand on an encoder: a fresh network that reads the states of its layers, and that tasks read."""

import torch
from torch import nn


class Top(nn.Module):
    """A network on the states of some layers. Called with them, ``(reads, windows, length, width of the encoder)``
    float32, and the batch's mask ``(windows, length)``, it gives ``(windows, length, width)``.

    Args:
        reads: the numbers of the layers that it is given, in this order; 0 is the embeddings.
        width: of the states that it gives.
    """

    def __init__(self, *, reads: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.reads, self.width = reads, width

    def chosen(self, outputs: list[torch.Tensor]) -> torch.Tensor:
        """Of all layers' states those that it reads, ``(reads, windows, length, width of the encoder)`` float32."""
        return torch.stack([outputs[layer].float() for layer in self.reads])
