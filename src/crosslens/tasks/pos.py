"""Part-of-speech tagging: one UPOS tag a word.

As in Muller et al. (2021) and Wu & Dredze (2019); scored as word-level accuracy.
"""

from typing import ClassVar

from crosslens.data.corpus import Corpus
from crosslens.data.formats import CONLLU, Format
from crosslens.scores import Score, accuracy
from crosslens.tasks.tagging import Tagging


class PartOfSpeech(Tagging):
    """The task ``pos``."""

    layer: ClassVar[str] = "upos"

    @property
    def name(self) -> str:
        """``pos``."""
        return "pos"

    @property
    def metric(self) -> str:
        """``accuracy``."""
        return "accuracy"

    @property
    def recipe(self) -> str:
        """Muller et al.'s."""
        return "muller2021.pos"

    @property
    def format(self) -> Format:
        """``.conllu``."""
        return CONLLU

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Accuracy over all words."""
        right, guess = self._compared(gold, predicted)
        return [accuracy(right, guess, data=gold.digest, rule="task:pos|words:all", known=known)]
