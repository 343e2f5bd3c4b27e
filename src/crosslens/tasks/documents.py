"""Document classification by topic (MLDoc, SIB-200)."""

from typing import TYPE_CHECKING, ClassVar

from crosslens.data.corpus import Corpus
from crosslens.data.formats.tsv import FirstSentences, first_sentences
from crosslens.tasks.classification import Classification

if TYPE_CHECKING:  # these import torch, which scoring and reports do not need
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


class Documents(Classification):
    """Document classification, the task ``document``.

    Attributes:
        sentences: part of each document to read: ``all``, the first sentence (``1``), or the first two as a pair
            (``2``), as in Wu & Dredze (2019, section 4.1).
    """

    name: ClassVar[str] = "document"
    recipe: ClassVar[str] = "wu2019.document"

    sentences: FirstSentences = "all"

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """Encode each document as one window."""
        return super().read(encoder, first_sentences(corpus, self.sentences), window=window, context=context)
