"""How an encoder's vocabulary reads a text: what it does not know, and what it breaks into pieces."""

from dataclasses import dataclass

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import cut_words
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import cut_subwords
from crosslens.errors import DataError


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a vocabulary makes of a text.

    Attributes:
        words: how many there are.
        unknown: share of the words with a piece that is the unknown token, in percent.
        broken: share of the words that are cut into several pieces, in percent.
        fertility: pieces a word; a lone mark that a word begins is none.
        characters: that a piece reads; of an unknown word, none are read.
    """

    words: int
    unknown: float
    broken: float
    fertility: float
    characters: float


def measure_coverage(encoder: Encoder, corpus: Corpus) -> Coverage:
    """How an encoder's vocabulary reads a corpus; running text is cut into words at spaces and punctuation.

    Raises:
        DataError: when there is no word in it.
    """
    words = cut_words(corpus)
    pieces = [its for its in cut_subwords(encoder, words) if len(its)]
    if not pieces:
        raise DataError(f"{corpus.name} contains no words")
    lengths = np.asarray([len(word) for sentence in words.sentences for word in sentence.words])
    counts = np.concatenate([np.diff(its.starts) - (its.labelled - its.starts[:-1]) for its in pieces])
    unknown = encoder.tokenizer.unk_token_id
    unread = np.concatenate([np.add.reduceat(its.ids == unknown, its.starts[:-1]) > 0 for its in pieces])
    return Coverage(
        words=len(counts), unknown=100.0 * float(unread.mean()), broken=100.0 * float((counts > 1).mean()),
        fertility=float(counts.mean()), characters=float(lengths[~unread].sum() / counts.sum()),
    )  # fmt: skip
