"""Natural language inference: does the first text entail the second, contradict it, or neither (MultiNLI, XNLI)."""

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Item
from crosslens.errors import DataError, suggest
from crosslens.tasks.classification import Classification

LABELS = ("contradiction", "entailment", "neutral")
OTHERWISE = {"contradictory": "contradiction"}
"""What XNLI's translations of MultiNLI call one of them."""


class Inference(Classification):
    """The task ``nli``."""

    @property
    def name(self) -> str:
        """``nli``."""
        return "nli"

    @property
    def recipe(self) -> str:
        """Wu & Dredze's for XNLI."""
        return "wu2019.nli"

    @property
    def laboratory(self) -> str:
        """``lab_pairs``: premises and hypotheses in artificial languages."""
        return "lab_pairs"

    def gold(self, item: Item) -> tuple[str, ...]:
        """The pair's label."""
        return tuple(OTHERWISE.get(label, label) for label in super().gold(item))

    def check(self, corpus: Corpus) -> None:
        """Every item must be a pair with one of the three labels."""
        super().check(corpus)
        for text in corpus.texts:
            file, line = text.where or (corpus.name, None)
            if len(text.segments) != 2:
                raise DataError(f"{corpus.name} has single texts, where pairs are needed", file=file, line=line)
            (label,) = self.gold(text)
            if label not in LABELS:
                raise DataError(
                    f"{label!r} is none of the labels {', '.join(LABELS)}",
                    file=file,
                    line=line,
                    hint=suggest(label, LABELS),
                )
