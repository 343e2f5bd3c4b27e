"""Named-entity recognition: one IOB2 tag a word; scored as the F1 of whole spans over whole sentences.

Sentences are put together from their windows before they are scored, so an entity that crosses a window's border
counts once.
"""

from typing import ClassVar, Literal

from crosslens.data.corpus import Corpus
from crosslens.data.formats import IOB2, Format
from crosslens.scores import Score, span_scores
from crosslens.tasks.tagging import Tagging


class NamedEntities(Tagging):
    """The task ``ner``.

    Attributes:
        repair: how tags that are no IOB2 are read, of gold and predictions alike: ``conll`` as conlleval,
            ``conneau-last-type`` as Conneau, Wu et al. (2020), ``strict``.
    """

    layer: ClassVar[str] = "entities"

    repair: Literal["conll", "conneau-last-type", "strict"] = "conll"

    @property
    def name(self) -> str:
        """``ner``."""
        return "ner"

    @property
    def metric(self) -> str:
        """``f1``, of spans."""
        return "f1"

    @property
    def recipe(self) -> str:
        """Muller et al.'s."""
        return "muller2021.ner"

    @property
    def format(self) -> Format:
        """``.iob2``."""
        return IOB2

    def score(self, gold: Corpus, predicted: Corpus, *, known: frozenset[str] | None = None) -> list[Score]:
        """Span F1, precision, recall, strict F1, and F1 per type."""
        right, guess = self._compared(gold, predicted)
        types = None if known is None else frozenset(tag.partition("-")[2] for tag in known if tag != "O")
        return span_scores(right, guess, data=gold.digest, repair=self.repair, known=types)
