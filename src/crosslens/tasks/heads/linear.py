"""The head of most tasks: a linear layer."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from crosslens.tasks.task import UNSEEN


class LinearHead(nn.Module):
    """Dropout, then a linear layer."""

    def __init__(self, width: int, labels: int, *, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, labels)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """``(units, width)`` to ``(units, labels)``."""
        return self.classifier(self.dropout(states))


def summed_loss(logits: torch.Tensor, targets: np.ndarray) -> tuple[torch.Tensor, int]:
    """Cross-entropy, summed over units, and how many they are.

    Args:
        logits: ``(units, labels)``.
        targets: ``(units,)`` numbers of the gold labels; `UNSEEN` is not counted.
    """
    gold = torch.from_numpy(targets).to(logits.device, non_blocking=True)
    total = functional.cross_entropy(logits.float(), gold, ignore_index=UNSEEN, reduction="sum")
    return total, int((targets != UNSEEN).sum())
