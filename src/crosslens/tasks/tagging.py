"""Tagging: one label a word, a linear layer on the state of the word's labelled piece."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict
from torch import nn
from torch.nn import functional

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.batch import Batch

UNSEEN = -100
"""The target of a gold tag that is none of the model's labels: nothing can be learnt from it."""


class TaggingHead(nn.Module):
    """Dropout, then a linear layer: what `transformers` calls a token classifier."""

    def __init__(self, width: int, labels: int, *, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, labels)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        """``(words, width)`` to ``(words, labels)``."""
        return self.classifier(self.dropout(states))


class Tagging(BaseModel):
    """What tagging tasks share; each says which annotation it is, and how it is scored."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    layer: ClassVar[str]

    @property
    def settings(self) -> dict[str, Any]:
        """What of the task can be set."""
        return self.model_dump(mode="json")

    @property
    def needs(self) -> tuple[str, ...]:
        """The one annotation."""
        return (self.layer,)

    def check(self, corpus: Corpus) -> None:
        """Every sentence must have the annotation."""
        corpus.require(self.layer)

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """The corpus's tags, sorted."""
        return tuple(sorted({tag for sentence in corpus.sentences for tag in self._tags(sentence)}))

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> nn.Module:
        """A fresh `TaggingHead`."""
        return TaggingHead(width, len(labels), dropout=dropout)

    def targets(self, sentence: Sentence, labels: Sequence[str]) -> np.ndarray:
        """``(words,)`` numbers of the gold tags."""
        number = {label: index for index, label in enumerate(labels)}
        return np.asarray([number.get(tag, UNSEEN) for tag in self._tags(sentence)], np.int64)

    def loss(
        self, head: nn.Module, states: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> tuple[torch.Tensor, int]:
        """Cross-entropy, summed over words."""
        logits = head(batch.at_words(states)).float()
        total = functional.cross_entropy(logits, targets, ignore_index=UNSEEN, reduction="sum")
        return total, int((targets != UNSEEN).sum())

    def predict(self, head: nn.Module, states: torch.Tensor, batch: Batch) -> list[np.ndarray]:
        """``(words,)`` numbers of the likeliest tags, for each sentence."""
        best = head(batch.at_words(states)).argmax(-1).cpu().numpy()
        return np.split(best, np.cumsum(batch.lengths)[:-1])

    def annotate(self, sentence: Sentence, predicted: np.ndarray, labels: Sequence[str]) -> Sentence:
        """The sentence with the predicted tags."""
        return replace(sentence, **{self.layer: tuple(labels[number] for number in predicted)})

    def _compared(self, gold: Corpus, predicted: Corpus) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Gold and predicted tags, sentence by sentence, of corpora that are checked to be of the same words."""
        self.check(gold)
        gold.require_same_words(predicted)
        self.check(predicted)
        return [self._tags(s) for s in gold.sentences], [self._tags(s) for s in predicted.sentences]

    def _tags(self, sentence: Sentence) -> tuple[str, ...]:
        return getattr(sentence, self.layer) or ()
