"""Natural language inference: entailment, contradiction or neutral (MultiNLI, XNLI)."""

from typing import TYPE_CHECKING, ClassVar

from crosslens.data.corpus import Corpus, item_error
from crosslens.data.sentence import Item
from crosslens.errors import suggest
from crosslens.tasks.classification import Classification

if TYPE_CHECKING:  # these import torch, which scoring and reports do not need
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus

LABELS = ("contradiction", "entailment", "neutral")
ALIASES = {"contradictory": "contradiction"}
"""Label in XNLI's translations of MultiNLI -> standard label."""


class Inference(Classification):
    """Natural language inference, the task ``nli``."""

    name: ClassVar[str] = "nli"
    recipe: ClassVar[str] = "wu2019.nli"
    laboratory: ClassVar[str | None] = "lab_pairs"

    def gold(self, item: Item) -> tuple[str, ...]:
        """Label of the pair."""
        return tuple(ALIASES.get(label, label) for label in super().gold(item))

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Encode each pair as one window."""
        _check_pairs(corpus)
        return super().read(encoder, corpus, window=window, context=context)

    def check(self, corpus: Corpus) -> None:
        """Check that every item is a pair with one of the three labels."""
        super().check(corpus)
        _check_pairs(corpus)
        for text in corpus.texts:
            (label,) = self.gold(text)
            if label not in LABELS:
                reason = f"{label!r} is none of the labels {', '.join(LABELS)}"
                raise item_error(corpus, text, reason, hint=suggest(label, LABELS))


def _check_pairs(corpus: Corpus) -> None:
    for text in corpus.texts:
        if len(text.segments) != 2:
            raise item_error(corpus, text, f"{corpus.name} has single texts, where pairs are needed")
