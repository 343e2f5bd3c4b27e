"""The `Task` protocol, which every task implements."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.formats import Format
from crosslens.data.sentence import Item
from crosslens.scores import Score

if TYPE_CHECKING:  # these import torch, which scoring and reports do not need
    import torch

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


UNSEEN = -100
"""Target of a gold label that the model does not have; the loss ignores it."""


class Task(Protocol):
    """A task: labels, head, loss and scores, independent of the training loop.

    Implementations are frozen pydantic models. Their fields are the task's settings, and each has a default.
    """

    @property
    def name(self) -> str:
        """Name of the task, such as ``pos``."""
        ...

    @property
    def settings(self) -> dict[str, Any]:
        """Current settings as JSON values; change them with `crosslens.tasks.find_task`."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Annotation layers required for training and scoring."""
        ...

    @property
    def metric(self) -> str:
        """Main score: shown in tables, and used for model selection unless the recipe names another."""
        ...

    @property
    def recipe(self) -> str | Mapping[str, Any]:
        """Default recipe: a name in `training.recipe.RECIPES`, or settings that differ from `Recipe()`."""
        ...

    @property
    def format(self) -> Format:
        """File format of predictions, and of input files with its extension."""
        ...

    @property
    def laboratory(self) -> str | None:
        """Collection of artificial languages for studies with ``data: lab``; None if no collection has the annotation.

        ``lab`` has sentences with tags, trees and entities; ``lab_topics`` documents; ``lab_pairs`` pairs of texts;
        ``lab_langid`` sentences labelled with their languages.
        """
        ...

    def check(self, corpus: Corpus) -> None:
        """Check that the corpus can be used for training and scoring.

        Raises:
            DataError: if it cannot, with file and line.
        """
        ...

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Encode the corpus for this task; see `crosslens.encoders.inputs.read_windows`."""
        ...

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """Sorted labels of a training corpus: those that a model trained on it can predict."""
        ...

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> "torch.nn.Module":
        """Create a randomly initialised head for states of this width; the caller seeds torch's global generator."""
        ...

    def targets(self, item: Item, labels: Sequence[str]) -> np.ndarray:
        """Encode the gold labels of an item, ``(units, …)`` int64; labels that are not in ``labels`` are `UNSEEN`.

        A unit is a word or a whole text.
        """
        ...

    def word_features(self, item: Item) -> np.ndarray | None:
        """Additional input of the head for each word, ``(words,)`` int64 (`Batch.word_features`), or None."""
        ...

    def cut(self, encoder: "Encoder | None", corpus: Corpus) -> Corpus:
        """Select the part of a test corpus to predict and score: all, unless a setting reproduces a paper.

        Raises:
            RequestError: if the part depends on the encoder, and that is None.
        """
        ...

    def loss(
        self, head: "torch.nn.Module", states: "torch.Tensor", batch: "Batch", targets: np.ndarray
    ) -> "tuple[torch.Tensor, int]":
        """Compute the loss, summed over the units of the batch, and the number of units.

        Args:
            head: the task's head.
            states: ``(windows, length, width)``, the encoder's last hidden states.
            batch: the windows.
            targets: ``(units, …)`` on the CPU, item by item. Units are counted before the targets are copied to the
                device, because reading the count back would wait for the GPU.
        """
        ...

    def predict(self, head: "torch.nn.Module", states: "torch.Tensor", batch: "Batch") -> list[np.ndarray]:
        """Predict each item: one integer array per item, ``(units, …)``."""
        ...

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Item:
        """Replace the annotation of an item by the predicted one."""
        ...

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Score a predicted corpus; the score named `metric` comes first.

        Args:
            gold: the corpus with gold annotation.
            predicted: the same items with predicted annotation.
            known: labels seen in training; None if unknown.
        """
        ...
