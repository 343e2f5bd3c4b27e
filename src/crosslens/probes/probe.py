"""Protocol for probing tasks."""

from typing import Literal, Protocol

from crosslens.data.corpus import Corpus
from crosslens.encoders.options import Pooling

Unit = Literal["text", "word"]
"""Labelled unit of a probe."""


class Probe(Protocol):
    """A classification task for linear probes on text vectors or word states.

    Probes are frozen pydantic models. Their fields are settings with defaults.
    """

    @property
    def name(self) -> str:
        """Name of the probe."""
        ...

    @property
    def about(self) -> str:
        """Predicted property, in a few words."""
        ...

    @property
    def unit(self) -> Unit:
        """Labelled unit: each ``text``, or each ``word`` of a sentence."""
        ...

    @property
    def pooling(self) -> Pooling:
        """Pooling of a text's subword states; words always use their ``first`` subword, as for taggers."""
        ...

    def cut(self, corpus: Corpus) -> Corpus:
        """Select the input: a part of every text, or all words of every sentence, in order."""
        ...

    def answers(self, corpus: Corpus) -> list[str]:
        """Gold label of every text, or of every word, sentence by sentence.

        Raises:
            DataError: with file and line, if an item has no label.
        """
        ...
