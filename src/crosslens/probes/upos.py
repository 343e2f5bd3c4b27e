"""Probe for universal part-of-speech tags."""

from typing import ClassVar

from crosslens.data.corpus import Corpus
from crosslens.encoders.options import Pooling
from crosslens.probes.probe import Unit
from crosslens.settings import Strict


class PartsOfSpeech(Strict):
    """Probe ``upos``: the universal part-of-speech tag of each word."""

    name: ClassVar[str] = "upos"
    about: ClassVar[str] = "the part of speech of a word"
    unit: ClassVar[Unit] = "word"
    pooling: ClassVar[Pooling] = "first"

    def cut(self, corpus: Corpus) -> Corpus:
        """Return the corpus unchanged."""
        return corpus

    def answers(self, corpus: Corpus) -> list[str]:
        """UPOS tags of all words."""
        corpus.require("upos")
        return [tag for sentence in corpus.sentences for tag in sentence.upos or ()]
