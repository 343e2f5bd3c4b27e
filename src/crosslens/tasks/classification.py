"""Text classification with a linear layer on the last hidden state of ``[CLS]``.

As in Wu & Dredze (2019, sections 4.1 and 4.2), each text or pair of texts has one label, and the score is accuracy.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from crosslens.data.corpus import Corpus, item_error
from crosslens.data.formats import TSV, Format
from crosslens.data.formats.tsv import require_labels
from crosslens.data.sentence import Item, Text
from crosslens.scores import Score, accuracy
from crosslens.tasks.labelling import Labelling

if TYPE_CHECKING:  # these import torch, which scoring and reports do not need
    import torch

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


class Classification(Labelling):
    """Base class of text classification tasks.

    Attributes:
        pooling: input of the linear layer: ``cls`` (the state of the special token, in decoders of the last token),
            ``mean`` (the mean over the subwords of the text, or of its last copy, and the special tokens between the
            texts of a pair) or ``max`` (the maximum of each feature over all positions, special tokens and copies
            included, as in the feature-based experiments of Wu & Dredze 2019, section 5.2).
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ("label",)
    metric: ClassVar[str] = "accuracy"
    format: ClassVar[Format] = TSV
    laboratory: ClassVar[str | None] = "lab_topics"

    pooling: Literal["cls", "mean", "max"] = "cls"

    def check(self, corpus: Corpus) -> None:
        """Check that every text has a label."""
        require_labels(corpus)

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """Sorted labels of the corpus, at least two."""
        labels = super().labels(corpus)
        if len(labels) == 1:
            raise item_error(
                corpus,
                corpus.texts[0],
                f"every text of {corpus.name} has the label {labels[0]!r}, so there is nothing to learn",
                hint="if the corpus is sorted by label, do not take only its beginning",
            )
        return labels

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Encode each text as one window; longer texts are truncated and counted."""
        from crosslens.encoders.inputs import read_texts

        return read_texts(encoder, corpus, window=window)

    def gold(self, item: Item) -> tuple[str, ...]:
        """Label of the text."""
        assert isinstance(item, Text)
        return () if item.label is None else (item.label,)

    def units(self, states: "torch.Tensor", batch: "Batch") -> "torch.Tensor":
        """Pool ``(windows, length, width)`` states to ``(texts, width)``."""
        if self.pooling == "cls":
            return batch.word_states(states)
        if self.pooling == "mean":
            return batch.mean_states(states)
        return states.masked_fill(batch.mask[:, :, None] == 0, -math.inf).amax(1)

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Text:
        """Replace the label by the predicted one."""
        assert isinstance(item, Text)
        return replace(item, label=labels[int(predicted[0])])

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Compute accuracy over all texts."""
        labels = self._compared(gold, predicted)
        return [accuracy(*labels, data=gold.digest, rule=f"task:{self.name}|texts:all", known=known)]
