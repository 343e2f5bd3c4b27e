"""One label a unit, a word or a whole text: a linear layer on the unit's state."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Item
from crosslens.tasks.task import UNSEEN

if TYPE_CHECKING:  # they bring torch, which scoring and reports need not wait for
    import torch
    from torch import nn

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder


class Labelling(BaseModel):
    """What such tasks share; each says what an item's labels are, and how they are scored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def gold(self, item: Item) -> tuple[str, ...]:
        """The item's labels, one a unit."""
        raise NotImplementedError

    @property
    def laboratory(self) -> str | None:
        """``lab``: artificial languages, their sentences fully annotated."""
        return "lab"

    @property
    def settings(self) -> dict[str, Any]:
        """What of the task can be set."""
        return self.model_dump(mode="json")

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """The corpus's labels, sorted."""
        return tuple(sorted({label for item in corpus for label in self.gold(item)}))

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> "nn.Module":
        """A fresh `LinearHead`."""
        from crosslens.tasks.heads.linear import LinearHead

        return LinearHead(width, len(labels), dropout=dropout)

    def targets(self, item: Item, labels: Sequence[str]) -> np.ndarray:
        """``(units,)`` numbers of the gold labels."""
        number = {label: index for index, label in enumerate(labels)}
        return np.asarray([number.get(label, UNSEEN) for label in self.gold(item)], np.int64)

    def word_features(self, item: Item) -> np.ndarray | None:
        """Nothing."""
        return None

    def cut(self, encoder: "Encoder", corpus: Corpus) -> Corpus:
        """All of it."""
        return corpus

    def units(self, states: "torch.Tensor", batch: "Batch") -> "torch.Tensor":
        """``(windows, length, width)`` to ``(units, width)``: the states that the labels are read from."""
        return batch.word_states(states)

    def loss(
        self, head: "nn.Module", states: "torch.Tensor", batch: "Batch", targets: np.ndarray
    ) -> "tuple[torch.Tensor, int]":
        """Cross-entropy, summed over units."""
        from crosslens.tasks.heads.linear import summed_loss

        return summed_loss(head(self.units(states, batch)), targets)

    def predict(self, head: "nn.Module", states: "torch.Tensor", batch: "Batch") -> list[np.ndarray]:
        """``(units,)`` numbers of the likeliest labels, for each item."""
        best = head(self.units(states, batch)).argmax(-1).cpu().numpy()
        return np.split(best, np.cumsum(batch.lengths)[:-1])
