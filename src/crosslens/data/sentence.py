"""A sentence of words with its annotation, and a text of one or two segments: the items of a corpus."""

from dataclasses import dataclass, field
from typing import NamedTuple

from crosslens.errors import DataError

ANNOTATIONS = ("upos", "heads", "relations", "entities")
"""The annotation layers a sentence can carry, each one value a word."""


UPOS = (
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
)
"""The universal part-of-speech tags of UD 2; UD 1 has CONJ for CCONJ."""


class Where(NamedTuple):
    """The place something was read from; lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of words with optional annotation layers: tuples of equal length.

    >>> sentence = Sentence(words=("Dogs", "bark"), upos=("NOUN", "VERB"))
    >>> len(sentence), sentence.text
    (2, 'Dogs bark')

    Attributes:
        words: the syntactic words, Unicode-normalised to NFC.
        upos: universal part-of-speech tags, or None where the source has none.
        heads: for each word the number of its head, counted from 1; 0 is the root.
        relations: for each word the relation to its head, with its subtype.
        entities: IOB2 tags.
        id: the source's own id.
        where: the line of the first word, or of the first comment.
        lines: the lines as they stood in the source, endings included, so that writing an unchanged
            sentence gives the same bytes.

    Raises:
        DataError: when the tuples differ in length.
    """

    words: tuple[str, ...]
    upos: tuple[str, ...] | None = None
    heads: tuple[int, ...] | None = None
    relations: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    id: str | None = None
    where: Where | None = field(default=None, compare=False)
    lines: tuple[str, ...] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ANNOTATIONS:
            values = getattr(self, name)
            if values is not None and len(values) != len(self.words):
                file, line = self.where or (None, None)
                raise DataError(f"{len(self.words)} words but {len(values)} {name}", file=file, line=line)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def text(self) -> str:
        """The running text as the source has it, or else the words with spaces between them."""
        marks = ("# text = ", "# text=")
        texts = (
            line.removeprefix(mark).strip() for line in self.lines or () for mark in marks if line.startswith(mark)
        )
        return next(texts, "") or " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Text:
    """Running text: one segment (raw text, a document) or two (premise and hypothesis), perhaps with a label."""

    segments: tuple[str, ...]
    label: str | None = None
    id: str | None = None
    where: Where | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """The segments with a space between them."""
        return " ".join(self.segments)


Item = Sentence | Text
"""What a corpus is made of."""
