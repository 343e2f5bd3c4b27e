"""Tasks that predict one label per word or text with a linear layer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Item
from crosslens.settings import Strict
from crosslens.tasks.task import UNSEEN

if TYPE_CHECKING:  # these import torch, which scoring and reports do not need
    import torch
    from torch import nn

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder


class Labelling(Strict):
    """Base class of tasks with one label per unit, which is a word or a text.

    Subclasses define the check of a corpus, the gold labels and the scores.
    """

    laboratory: ClassVar[str | None] = "lab"

    def check(self, corpus: Corpus) -> None:
        """Check that every unit has a label."""
        raise NotImplementedError

    def gold(self, item: Item) -> tuple[str, ...]:
        """Gold labels of an item, one per unit."""
        raise NotImplementedError

    @property
    def settings(self) -> dict[str, Any]:
        """Current settings as JSON values."""
        return self.model_dump(mode="json")

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """Sorted labels of the corpus."""
        return tuple(sorted({label for item in corpus for label in self.gold(item)}))

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> "nn.Module":
        """Create a randomly initialised `LinearHead`."""
        from crosslens.tasks.heads.linear import LinearHead

        return LinearHead(width, len(labels), dropout=dropout)

    def targets(self, item: Item, labels: Sequence[str]) -> np.ndarray:
        """Indices of the gold labels, ``(units,)``."""
        indices = {label: index for index, label in enumerate(labels)}
        return np.asarray([indices.get(label, UNSEEN) for label in self.gold(item)], np.int64)

    def word_features(self, item: Item) -> np.ndarray | None:
        """No additional features."""
        return None

    def cut(self, encoder: "Encoder | None", corpus: Corpus) -> Corpus:
        """Keep the whole corpus."""
        return corpus

    def units(self, states: "torch.Tensor", batch: "Batch") -> "torch.Tensor":
        """Select the states to classify: ``(windows, length, width)`` to ``(units, width)``."""
        return batch.word_states(states)

    def loss(
        self, head: "nn.Module", states: "torch.Tensor", batch: "Batch", targets: np.ndarray
    ) -> "tuple[torch.Tensor, int]":
        """Compute the cross-entropy, summed over units, and the number of units."""
        from crosslens.tasks.heads.linear import summed_loss

        return summed_loss(head(self.units(states, batch)), targets)

    def predict(self, head: "nn.Module", states: "torch.Tensor", batch: "Batch") -> list[np.ndarray]:
        """Indices of the most probable labels, ``(units,)`` for each item."""
        predicted = head(self.units(states, batch)).argmax(-1).cpu().numpy()
        return np.split(predicted, np.cumsum(batch.lengths)[:-1])

    def _compared(self, gold: Corpus, predicted: Corpus) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Gold and predicted labels of each item, after a check that the words are the same."""
        self.check(gold)
        gold.require_same_words(predicted)
        self.check(predicted)
        gold_labels, predicted_labels = ([self.gold(item) for item in corpus] for corpus in (gold, predicted))
        return gold_labels, predicted_labels
