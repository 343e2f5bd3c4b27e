"""Parts of speech: how much of a word's UPOS tag can a linear layer read off its state, layer by layer?"""

from pydantic import BaseModel, ConfigDict

from crosslens.data.corpus import Corpus
from crosslens.encoders.options import Pooling
from crosslens.probes.probe import Unit


class PartsOfSpeech(BaseModel):
    """The probe ``upos``; a word's label is its universal part-of-speech tag."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def name(self) -> str:
        """``upos``."""
        return "upos"

    @property
    def about(self) -> str:
        """What it asks."""
        return "the part of speech of a word"

    @property
    def unit(self) -> Unit:
        """Words."""
        return "word"

    @property
    def pooling(self) -> Pooling:
        """``first``: the subword that taggers label."""
        return "first"

    def cut(self, corpus: Corpus) -> Corpus:
        """Whole sentences."""
        return corpus

    def answers(self, corpus: Corpus) -> list[str]:
        """The tags."""
        corpus.require("upos")
        return [tag for sentence in corpus.sentences for tag in sentence.upos or ()]
