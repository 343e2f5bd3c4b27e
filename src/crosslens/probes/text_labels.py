"""Probes for the label of a text: its language, or its topic."""

from pydantic import BaseModel, ConfigDict

from crosslens.data.corpus import Corpus
from crosslens.data.formats.tsv import FirstSentences, first_sentences, require_labels
from crosslens.encoders.options import Pooling
from crosslens.probes.probe import Unit


class _LabelledTexts(BaseModel):
    """Texts with a label.

    Attributes:
        sentences: what of a text is read: ``all``; or its first sentence, or its first ``2``.
        pooling: which vector stands for a text; the mean of all subwords is a bag of words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sentences: FirstSentences = "all"
    pooling: Pooling = "mean"

    @property
    def unit(self) -> Unit:
        """Texts."""
        return "text"

    def cut(self, corpus: Corpus) -> Corpus:
        """Texts, or their first sentences."""
        return first_sentences(corpus, self.sentences)

    def answers(self, corpus: Corpus) -> list[str]:
        """The labels."""
        return require_labels(corpus)


class LanguageIdentification(_LabelledTexts):
    """The probe ``langid``: which language is a text in (Wu & Dredze 2019, section 5.3, Figure 2)?

    If a layer had given up what tells languages apart, a linear layer on its states could not say. The paper reads the
    first two sentences.
    """

    @property
    def name(self) -> str:
        """``langid``."""
        return "langid"

    @property
    def about(self) -> str:
        """What it asks."""
        return "the language of a text"


class Topic(_LabelledTexts):
    """The probe ``topic``: what is a text about?"""

    @property
    def name(self) -> str:
        """``topic``."""
        return "topic"

    @property
    def about(self) -> str:
        """What it asks."""
        return "the topic of a text"
