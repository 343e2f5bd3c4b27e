"""A probe of words: is a word short or long, or longer?"""

from pydantic import BaseModel, ConfigDict

from crosslens.data.corpus import Corpus


class Length(BaseModel):
    """The probe ``length``.

    Attributes:
        short: letters of the longest short word; words of twice as many and more are very long.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    short: int = 3

    @property
    def name(self) -> str:
        return "length"

    @property
    def about(self) -> str:
        return "whether a word is short"

    @property
    def unit(self) -> str:
        return "word"

    @property
    def pooling(self) -> str:
        return "first"

    def cut(self, corpus: Corpus) -> Corpus:
        return corpus

    def answers(self, corpus: Corpus) -> list[str]:
        lengths = [len(word) for sentence in corpus.sentences for word in sentence.words]
        return ["short" if n <= self.short else "long" if n <= 2 * self.short else "very long" for n in lengths]
