"""Linear classification head."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from crosslens.tasks.task import UNSEEN


class LinearHead(nn.Module):
    """Dropout followed by a linear layer."""

    def __init__(self, width: int, labels: int, *, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, labels)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """Map states ``(units, width)`` to logits ``(units, labels)``."""
        return self.classifier(self.dropout(states))


def summed_loss(logits: torch.Tensor, targets: np.ndarray) -> tuple[torch.Tensor, int]:
    """Compute the cross-entropy, summed over units, and the number of units.

    Args:
        logits: ``(units, labels)``.
        targets: indices of the gold labels, ``(units,)``; `UNSEEN` is ignored.
    """
    gold = torch.from_numpy(targets).to(logits.device, non_blocking=True)
    total = functional.cross_entropy(logits.float(), gold, ignore_index=UNSEEN, reduction="sum")
    return total, int((targets != UNSEEN).sum())
