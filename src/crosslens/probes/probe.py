"""What a probe is: the contract that every file of this folder fulfils."""

from typing import Protocol

from crosslens.data.corpus import Corpus
from crosslens.encoders.pooling import Pooling


class Probe(Protocol):
    """A question that a linear layer on one vector an item must answer, at every layer of an encoder."""

    @property
    def name(self) -> str:
        """What the user calls it."""
        ...

    @property
    def about(self) -> str:
        """What it asks, in a few words."""
        ...

    @property
    def pooling(self) -> Pooling:
        """Which vector stands for an item."""
        ...

    def cut(self, corpus: Corpus) -> Corpus:
        """What of the corpus is read."""
        ...

    def answers(self, corpus: Corpus) -> list[str]:
        """The right answer for every item.

        Raises:
            DataError: with file and line, for an item that has none.
        """
        ...
