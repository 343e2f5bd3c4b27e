"""Items of a corpus: annotated sentences of words, and texts of one or two segments."""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple

from crosslens.errors import DataError

ANNOTATIONS = {
    "upos": "UPOS tags",
    "heads": "heads (HEAD)",
    "relations": "relations (DEPREL)",
    "entities": "entity tags",
}
"""Annotation layer of a sentence, with one value per word -> what it is called in messages."""


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
"""Universal part-of-speech tags of UD 2; UD 1 has CONJ for CCONJ."""


def on_one_line(text: str) -> str:
    """A text as a field of a line: each run of tabs and line breaks becomes a space.

    >>> on_one_line("New\\r\\nYork")
    'New York'
    """
    return _BREAKS.sub(" ", text)


_BREAKS = re.compile(r"[\t\r\n]+")


class Where(NamedTuple):
    """Source location of an item: file and line, counted from 1."""

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
        words: syntactic words, Unicode-normalised to NFC.
        upos: universal part-of-speech tags, or None.
        heads: head of each word, counted from 1; 0 is the root.
        relations: relation of each word to its head, with subtype.
        entities: IOB2 tags.
        id: id in the source.
        where: location of the first word or comment.
        lines: original lines with line endings, so that an unchanged sentence is written byte by byte.

    Raises:
        DataError: if the tuples differ in length.
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
        """Running text from the source's ``# text`` comment, in NFC, or else the words joined by spaces."""
        marks = ("# text = ", "# text=")
        lines = [line.removeprefix("\ufeff") for line in self.lines or ()]  # a byte order mark, in the first line
        texts = (line.removeprefix(mark).strip() for line in lines for mark in marks if line.startswith(mark))
        return unicodedata.normalize("NFC", next(texts, "")) or " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Text:
    """Running text of one segment (sentence, document) or two (premise and hypothesis), with an optional label.

    Raises:
        DataError: for another number of segments.
    """

    segments: tuple[str, ...]
    label: str | None = None
    id: str | None = None
    where: Where | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if len(self.segments) not in (1, 2):
            file, line = self.where or (None, None)
            raise DataError(
                f"{len(self.segments)} strings where a text is one, and a pair of texts two",
                file=file,
                line=line,
                hint="write each text as one string: ['Un bon film.', 'Un mauvais film.']",
            )

    @property
    def text(self) -> str:
        """Segments joined by a space."""
        return " ".join(self.segments)


Item = Sentence | Text
"""Item of a corpus."""
