"""What a task is: the contract that every file of this folder fulfils."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.formats import Format
from crosslens.data.sentence import Item
from crosslens.scores import Score

if TYPE_CHECKING:  # they bring torch, which scoring and reports need not wait for
    import torch

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


UNSEEN = -100
"""The target of a gold label that is none of the model's: nothing can be learnt from it."""


class Task(Protocol):
    """A task knows labels, a head, a loss and a score; it knows nothing of the training loop.

    It is a frozen pydantic model, and its fields are its settings; each has a default.
    """

    @property
    def name(self) -> str:
        """What the user calls it."""
        ...

    @property
    def settings(self) -> dict[str, Any]:
        """What of it can be set, and how it is: plain values. See `crosslens.tasks.find_task`."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The annotation layers that training and scoring need."""
        ...

    @property
    def metric(self) -> str:
        """The score that tables show, and by which models are selected unless the recipe says another."""
        ...

    @property
    def recipe(self) -> str | Mapping[str, Any]:
        """How it is fine-tuned where no recipe is given: a name of `training.recipe.RECIPES`, or settings of a recipe
        that differ from `Recipe()`."""
        ...

    @property
    def format(self) -> Format:
        """The format of files with its annotation: predictions are written in it, and files of that extension read."""
        ...

    @property
    def laboratory(self) -> str | None:
        """The collection of artificial languages that it is studied on with ``data: lab``: ``lab``, sentences with
        tags, trees and entities; ``lab_topics``, documents; ``lab_pairs``, pairs of texts; ``lab_langid``, sentences
        with their languages. None: none of them has its annotation."""
        ...

    def check(self, corpus: Corpus) -> None:
        """Refuse a corpus that cannot be trained or scored on.

        Raises:
            DataError: with file and line.
        """
        ...

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """The corpus as the encoder reads it for this task: see `crosslens.encoders.inputs.read_windows`."""
        ...

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """The labels that the corpus has, sorted: what a model trained on it can predict."""
        ...

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> "torch.nn.Module":
        """A fresh head on states of this width; it draws from torch's global generator, which the caller seeds."""
        ...

    def targets(self, item: Item, labels: Sequence[str]) -> np.ndarray:
        """What the loss compares with, ``(units, …)`` int64; `UNSEEN` where the gold label is none of ``labels``.

        A unit is a word, or a whole text.
        """
        ...

    def word_features(self, item: Item) -> np.ndarray | None:
        """Additional input of the head for each word, ``(words,)`` int64 (`Batch.word_features`); None: none."""
        ...

    def cut(self, encoder: "Encoder", corpus: Corpus) -> Corpus:
        """What of a test corpus is predicted and scored: all of it, unless a setting repeats what a paper did."""
        ...

    def loss(
        self, head: "torch.nn.Module", states: "torch.Tensor", batch: "Batch", targets: np.ndarray
    ) -> "tuple[torch.Tensor, int]":
        """The sum of the losses over the units of the batch, and how many they are.

        Args:
            head: the task's head.
            states: ``(windows, length, width)``, the encoder's last hidden states.
            batch: the windows.
            targets: ``(units, …)``, item by item. Counted before they are copied to the device, which is asked for
                nothing here: a GPU would be waited for.
        """
        ...

    def predict(self, head: "torch.nn.Module", states: "torch.Tensor", batch: "Batch") -> list[np.ndarray]:
        """For each item its units' predictions, ``(units, …)``, as numbers."""
        ...

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Item:
        """The item with the predicted annotation instead of its own."""
        ...

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Scores of a predicted corpus, the one named `metric` first.

        Args:
            gold: the corpus with its own annotation.
            predicted: the same items with predicted annotation.
            known: the labels that training saw; None when nothing is known of the training.
        """
        ...
