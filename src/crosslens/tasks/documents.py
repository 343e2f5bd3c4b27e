"""Document classification: the topic of a text (MLDoc, SIB-200)."""

from typing import TYPE_CHECKING

from crosslens.data.corpus import Corpus
from crosslens.data.formats.tsv import FirstSentences, first_sentences
from crosslens.tasks.classification import Classification

if TYPE_CHECKING:  # they bring torch, which scoring and reports need not wait for
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.inputs import EncodedCorpus


class Documents(Classification):
    """The task ``document``.

    Attributes:
        sentences: what of a document is read: ``all`` of it; or its first sentence, or ``2`` as a pair, as in Wu &
            Dredze (2019, section 4.1).
    """

    sentences: FirstSentences = "all"

    @property
    def name(self) -> str:
        """``document``."""
        return "document"

    @property
    def recipe(self) -> str:
        """Wu & Dredze's."""
        return "wu2019.document"

    def read(self, encoder: "Encoder", corpus: Corpus, *, window: int | None, context: int | None) -> "EncodedCorpus":
        """A window a document."""
        return super().read(encoder, first_sentences(corpus, self.sentences), window=window, context=context)
