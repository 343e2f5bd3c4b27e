"""Named-entity recognition with one IOB2 tag per word, scored as span F1.

Windows are merged into sentences before scoring, so an entity that crosses a window boundary counts once.
"""

from typing import ClassVar, Literal

from crosslens.data.corpus import Corpus
from crosslens.data.formats import IOB2, Format
from crosslens.scores import Score, span_scores
from crosslens.tasks.tagging import Tagging


class NamedEntities(Tagging):
    """Named-entity recognition, the task ``ner``.

    Attributes:
        repair: rule for invalid IOB2 in gold and predicted tags: ``conll`` as in conlleval, ``conneau-last-type`` as
            in Conneau, Wu et al. (2020), or ``strict``; see `crosslens.scores.spans`.
    """

    layer: ClassVar[str] = "entities"
    name: ClassVar[str] = "ner"
    metric: ClassVar[str] = "f1"
    recipe: ClassVar[str] = "muller2021.ner"
    format: ClassVar[Format] = IOB2

    repair: Literal["conll", "conneau-last-type", "strict"] = "conll"

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Compute span F1, precision, recall, strict F1, and F1 per entity type."""
        tags = self._compared(gold, predicted)
        types = None if known is None else frozenset(tag.partition("-")[2] for tag in known if tag != "O")
        return span_scores(*tags, data=gold.digest, repair=self.repair, known=types)
