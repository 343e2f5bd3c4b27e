"""Tagging: one label a word, read from the state of the word's labelled piece."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Item, Sentence
from crosslens.tasks.labelling import Labelling

if TYPE_CHECKING:  # they bring torch, which scoring and reports need not wait for
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


class Tagging(Labelling):
    """What tagging tasks share; each says which annotation it is, and how it is scored."""

    layer: ClassVar[str]

    @property
    def needs(self) -> tuple[str, ...]:
        """The one annotation."""
        return (self.layer,)

    def check(self, corpus: Corpus) -> None:
        """Every sentence must have the annotation."""
        corpus.require(self.layer)

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Sentences as windows."""
        from crosslens.encoders.inputs import read_windows

        return read_windows(encoder, corpus, window=window, context=context)

    def gold(self, item: Item) -> tuple[str, ...]:
        """The words' tags."""
        return getattr(item, self.layer) or ()

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Sentence:
        """The sentence with the predicted tags."""
        assert isinstance(item, Sentence)
        return replace(item, **{self.layer: tuple(labels[number] for number in predicted)})

    def _compared(self, gold: Corpus, predicted: Corpus) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        """Gold and predicted tags, sentence by sentence, of corpora that are checked to be of the same words."""
        self.check(gold)
        gold.require_same_words(predicted)
        self.check(predicted)
        return [self.gold(s) for s in gold.sentences], [self.gold(s) for s in predicted.sentences]
