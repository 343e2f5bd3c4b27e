"""Sequence tagging with one label per word, predicted from the state of the word's labelled subword."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Item, Sentence
from crosslens.tasks.labelling import Labelling

if TYPE_CHECKING:  # these import torch, which scoring and reports do not need
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


class Tagging(Labelling):
    """Base class of tagging tasks; subclasses define the scores.

    Attributes:
        layer: the annotation layer to predict, such as ``upos``.
    """

    layer: ClassVar[str]

    @property
    def needs(self) -> tuple[str, ...]:
        """The annotation layer."""
        return (self.layer,)

    def check(self, corpus: Corpus) -> None:
        """Check that every sentence has the annotation layer."""
        corpus.require(self.layer)

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Encode sentences as overlapping windows."""
        from crosslens.encoders.inputs import read_windows

        corpus.require()  # no annotation, but sentences of words
        return read_windows(encoder, corpus, window=window, context=context)

    def gold(self, item: Item) -> tuple[str, ...]:
        """Tags of the words."""
        return getattr(item, self.layer) or ()

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Sentence:
        """Replace the tags by the predicted ones."""
        assert isinstance(item, Sentence)
        return replace(item, **{self.layer: tuple(labels[index] for index in predicted)})
