"""Classification: one label a text, or a pair of texts, read from the special token that stands for it.

As in Wu & Dredze (2019, sections 4.1 and 4.2): a linear layer on the last state of ``[CLS]``, scored as accuracy.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.formats import TSV, Format
from crosslens.data.formats.tsv import require_labels
from crosslens.data.sentence import Item, Text
from crosslens.errors import DataError
from crosslens.scores import Score, accuracy
from crosslens.tasks.labelling import Labelling

if TYPE_CHECKING:  # they bring torch, which scoring and reports need not wait for
    import torch

    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


class Classification(Labelling):
    """What such tasks share.

    Attributes:
        pooling: the state that a label is read from: ``cls``, the special token's; ``max``, the largest value of every
            feature over the text, as Wu & Dredze (2019, section 5.2) use features.
    """

    pooling: Literal["cls", "max"] = "cls"

    @property
    def name(self) -> str:
        """What the user calls it."""
        raise NotImplementedError

    @property
    def needs(self) -> tuple[str, ...]:
        """A label."""
        return ("label",)

    @property
    def metric(self) -> str:
        """``accuracy``, over texts."""
        return "accuracy"

    @property
    def format(self) -> Format:
        """``.tsv``."""
        return TSV

    @property
    def laboratory(self) -> str | None:
        """``lab_topics``: documents in artificial languages, labelled with their topics."""
        return "lab_topics"

    def check(self, corpus: Corpus) -> None:
        """Every text must have a label."""
        require_labels(corpus)

    def labels(self, corpus: Corpus) -> tuple[str, ...]:
        """The corpus's labels, sorted: two at least, or there is nothing to learn."""
        labels = super().labels(corpus)
        if len(labels) == 1:
            file, line = corpus.texts[0].where or (corpus.name, None)
            raise DataError(
                f"every text of {corpus.name} has the label {labels[0]!r}, so there is nothing to learn",
                file=file,
                line=line,
                hint="if the corpus is sorted by label, do not take only its beginning",
            )
        return labels

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """A window a text: what does not fit is cut off, and counted."""
        from crosslens.encoders.inputs import read_texts

        return read_texts(encoder, corpus, window=window)

    def gold(self, item: Item) -> tuple[str, ...]:
        """The text's label."""
        assert isinstance(item, Text)
        return () if item.label is None else (item.label,)

    def units(self, states: "torch.Tensor", batch: "Batch") -> "torch.Tensor":
        """``(windows, length, width)`` to ``(texts, width)``."""
        if self.pooling == "cls":
            return batch.word_states(states)
        return states.masked_fill(batch.mask[:, :, None] == 0, -math.inf).amax(1)

    def annotate(self, item: Item, predicted: np.ndarray, labels: Sequence[str]) -> Text:
        """The text with the predicted label."""
        assert isinstance(item, Text)
        return replace(item, label=labels[int(predicted[0])])

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Accuracy over all texts."""
        self.check(gold)
        gold.require_same_words(predicted)
        self.check(predicted)
        right, guess = ([self.gold(text) for text in corpus.texts] for corpus in (gold, predicted))
        return [accuracy(right, guess, data=gold.digest, rule=f"task:{self.name}|texts:all", known=known)]
