"""Part-of-speech tagging: one UPOS tag a word, a linear layer on the state of the word's labelled piece.

As in Muller et al. (2021) and Wu & Dredze (2019); scored as word-level accuracy.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.batch import Batch
from crosslens.errors import RequestError
from crosslens.scores import Score, accuracy

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


@dataclass(frozen=True)
class PartOfSpeech:
    """The task ``pos``."""

    name: str = "pos"
    needs: tuple[str, ...] = ("upos",)
    metric: str = "accuracy"

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """The corpus's tags, sorted."""
        return tuple(sorted({tag for sentence in corpus.sentences for tag in sentence.upos or ()}))

    def head(self, width: int, labels: Sequence[str], *, dropout: float) -> nn.Module:
        """A fresh `TaggingHead`."""
        return TaggingHead(width, len(labels), dropout=dropout)

    def targets(self, sentence: Sentence, labels: Sequence[str]) -> np.ndarray:
        """``(words,)`` numbers of the gold tags."""
        number = {label: index for index, label in enumerate(labels)}
        return np.asarray([number.get(tag, UNSEEN) for tag in sentence.upos or ()], np.int64)

    def loss(
        self, head: nn.Module, states: torch.Tensor, batch: Batch, targets: torch.Tensor
    ) -> tuple[torch.Tensor, int]:
        """Cross-entropy, summed over words."""
        logits = head(batch.at_words(states)).float()
        total = functional.cross_entropy(logits, targets, ignore_index=UNSEEN, reduction="sum")
        return total, int((targets != UNSEEN).sum())

    def predict(self, head: nn.Module, states: torch.Tensor, batch: Batch) -> list[np.ndarray]:
        """``(words,)`` numbers of the likeliest tags, for each window."""
        best = head(batch.at_words(states)).argmax(-1).cpu().numpy()
        ends = np.cumsum([window.last - window.first for window in batch.windows])
        return np.split(best, ends[:-1])

    def annotate(self, sentence: Sentence, predicted: np.ndarray, labels: Sequence[str]) -> Sentence:
        """The sentence with the predicted tags."""
        return replace(sentence, upos=tuple(labels[number] for number in predicted))

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Accuracy over all words."""
        gold.require("upos")
        predicted.require("upos")
        if [s.words for s in gold.sentences] != [s.words for s in predicted.sentences]:
            raise RequestError(*_first_difference(gold, predicted))
        right, guess = ([s.upos or () for s in corpus.sentences] for corpus in (gold, predicted))
        return [accuracy(right, guess, data=gold.digest, rule="task:pos|words:all", known=known)]


def _first_difference(gold: Corpus, predicted: Corpus) -> tuple[str]:
    for number, (right, guess) in enumerate(zip(gold.sentences, predicted.sentences, strict=False), start=1):
        if right.words != guess.words:
            return (f"sentence {number} ({guess.where or guess.id}) has other words than the gold one ({right.where})",)
    return (f"{gold.name} has {len(gold)} sentences but {predicted.name} has {len(predicted)}",)
