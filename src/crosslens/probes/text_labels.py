"""Probes for text labels: language identification and topic."""

from typing import ClassVar

from crosslens.data.corpus import Corpus
from crosslens.data.formats.tsv import FirstSentences, first_sentences, require_labels
from crosslens.encoders.options import Pooling
from crosslens.probes.probe import Unit
from crosslens.settings import Strict


class _LabelledTexts(Strict):
    """A probe for text labels.

    Attributes:
        sentences: sentences to read from each text: ``all``, the first one, or the first ``2``.
        pooling: pooling of subword states into a text vector.
    """

    unit: ClassVar[Unit] = "text"

    sentences: FirstSentences = "all"
    pooling: Pooling = "mean"

    def cut(self, corpus: Corpus) -> Corpus:
        """Select all sentences or the first ones."""
        return first_sentences(corpus, self.sentences)

    def answers(self, corpus: Corpus) -> list[str]:
        """Labels of the texts."""
        return require_labels(corpus)


class LanguageIdentification(_LabelledTexts):
    """Probe ``langid``: language identification (Wu & Dredze 2019, section 5.3, Figure 2).

    High accuracy shows that a layer retains language-specific information. The paper reads the first two sentences.
    """

    name: ClassVar[str] = "langid"
    about: ClassVar[str] = "the language of a text"


class Topic(_LabelledTexts):
    """Probe ``topic``: topic classification."""

    name: ClassVar[str] = "topic"
    about: ClassVar[str] = "the topic of a text"
