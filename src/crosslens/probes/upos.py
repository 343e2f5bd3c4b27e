"""Probe for universal part-of-speech tags."""

from pydantic import BaseModel, ConfigDict

from crosslens.data.corpus import Corpus
from crosslens.encoders.options import Pooling
from crosslens.probes.probe import Unit


class PartsOfSpeech(BaseModel):
    """Probe ``upos``: the universal part-of-speech tag of each word."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def name(self) -> str:
        """``upos``."""
        return "upos"

    @property
    def about(self) -> str:
        """Predicted property."""
        return "the part of speech of a word"

    @property
    def unit(self) -> Unit:
        """``word``."""
        return "word"

    @property
    def pooling(self) -> Pooling:
        """``first``: the state of the first subword, as for taggers."""
        return "first"

    def cut(self, corpus: Corpus) -> Corpus:
        """Return the corpus unchanged."""
        return corpus

    def answers(self, corpus: Corpus) -> list[str]:
        """UPOS tags of all words."""
        corpus.require("upos")
        return [tag for sentence in corpus.sentences for tag in sentence.upos or ()]
