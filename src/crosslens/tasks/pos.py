"""Part-of-speech tagging with one UPOS tag per word, scored as word accuracy.

As in Muller et al. (2021) and Wu & Dredze (2019).
"""

from typing import ClassVar

from crosslens.data.corpus import Corpus
from crosslens.data.formats import CONLLU, Format
from crosslens.scores import Score, accuracy
from crosslens.tasks.tagging import Tagging


class PartOfSpeech(Tagging):
    """Part-of-speech tagging, the task ``pos``."""

    layer: ClassVar[str] = "upos"
    name: ClassVar[str] = "pos"
    metric: ClassVar[str] = "accuracy"
    recipe: ClassVar[str] = "muller2021.pos"
    format: ClassVar[Format] = CONLLU

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Compute accuracy over all words."""
        tags = self._compared(gold, predicted)
        return [accuracy(*tags, data=gold.digest, rule="task:pos|words:all", known=known)]
