"""Read the named entities of the CoNLL 2002 and 2003 shared tasks.

The Spanish, Dutch and German files are distributed in Latin-1, and copies of them in UTF-8. The tags of 2003 are IOB1,
in which B- marks only a span that follows another one of its type; they become IOB2, as in all other corpora. The spans
are the same, and so is F1.

Tjong Kim Sang (2002); Tjong Kim Sang & De Meulder (2003).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats import iob


def read(path: str | Path, *, name: str | None = None, language: str | None = None, split: str | None = None) -> Corpus:
    """Read a file of one of the shared tasks: word first, tag last.

    Args:
        path: the file, in UTF-8 or Latin-1.

    Raises:
        DataError: as `crosslens.data.formats.iob.read`.
    """
    corpus = iob.read(path, name=name, language=language, split=split, prefixed=False, otherwise="latin-1")
    items = (
        replace(sentence, entities=to_iob2(sentence.entities)) if sentence.entities else sentence
        for sentence in corpus.sentences
    )
    return replace(corpus, items=tuple(items))


def to_iob2(tags: Sequence[str]) -> tuple[str, ...]:
    """Convert IOB1 tags to IOB2; IOB2 tags are returned unchanged.

    >>> to_iob2(["I-PER", "I-PER", "B-PER", "I-LOC", "O"])
    ('B-PER', 'I-PER', 'B-PER', 'B-LOC', 'O')
    """
    pairs = zip(["O", *tags], tags, strict=False)
    return tuple("B" + tag[1:] if tag[0] == "I" and before[1:] != tag[1:] else tag for before, tag in pairs)
