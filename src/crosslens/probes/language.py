"""Language identification: which language is a text in (Wu & Dredze 2019, section 5.3, Figure 2)?

If a layer had given up what tells languages apart, a linear layer on its states could not say.
"""

from pydantic import BaseModel, ConfigDict

from crosslens.data.corpus import Corpus
from crosslens.data.tsv import FirstSentences, first_sentences, require_labels
from crosslens.encoders.pooling import Pooling


class LanguageIdentification(BaseModel):
    """The probe ``langid``; a text's label is its language.

    Attributes:
        sentences: what of a text is read: ``all``; or its first sentence, or its first ``2``, as in the paper.
        pooling: the paper's bag of words is the mean of all subwords.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentences: FirstSentences = "all"
    pooling: Pooling = "mean"

    @property
    def name(self) -> str:
        """``langid``."""
        return "langid"

    @property
    def about(self) -> str:
        """What it asks."""
        return "the language of a text"

    def cut(self, corpus: Corpus) -> Corpus:
        """Texts, or their first sentences."""
        return first_sentences(corpus, self.sentences)

    def answers(self, corpus: Corpus) -> list[str]:
        """The labels."""
        return require_labels(corpus)
