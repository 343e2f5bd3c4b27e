"""The topic of a text: how much of what it is about can be read off a layer by a linear one?"""

from pydantic import BaseModel, ConfigDict

from crosslens.data.corpus import Corpus
from crosslens.data.tsv import require_labels
from crosslens.encoders.pooling import Pooling


class Topic(BaseModel):
    """The probe ``topic``; a text's label is its topic.

    Attributes:
        pooling: which vector stands for a text.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pooling: Pooling = "mean"

    @property
    def name(self) -> str:
        """``topic``."""
        return "topic"

    @property
    def about(self) -> str:
        """What it asks."""
        return "the topic of a text"

    def cut(self, corpus: Corpus) -> Corpus:
        """Whole texts."""
        return corpus

    def answers(self, corpus: Corpus) -> list[str]:
        """The labels."""
        return require_labels(corpus)
