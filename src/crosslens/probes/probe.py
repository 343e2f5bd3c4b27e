"""What a probe is: the contract that every file of this folder fulfils."""

from typing import Literal, Protocol

from crosslens.data.corpus import Corpus
from crosslens.encoders.options import Pooling

Unit = Literal["text", "word"]
"""What a probe labels."""


class Probe(Protocol):
    """A question that a linear layer on one vector a text, or one state a word, must answer, at every layer.

    It is a frozen pydantic model, and its fields are its settings; each has a default.
    """

    @property
    def name(self) -> str:
        """What the user calls it."""
        ...

    @property
    def about(self) -> str:
        """What it asks, in a few words."""
        ...

    @property
    def unit(self) -> Unit:
        """What has an answer: each ``text``, or each ``word`` of a sentence."""
        ...

    @property
    def pooling(self) -> Pooling:
        """Which vector stands for a text. A word always has the state of the subword that taggers label: ``first``."""
        ...

    def cut(self, corpus: Corpus) -> Corpus:
        """What of the corpus is read: something of every text, or all words of every sentence, in their order."""
        ...

    def answers(self, corpus: Corpus) -> list[str]:
        """The right answer for every text, or for every word, sentence by sentence.

        Raises:
            DataError: with file and line, for an item that has none.
        """
        ...
