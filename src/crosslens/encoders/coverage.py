"""Vocabulary coverage: unknown words, split words and fertility of a text."""

from dataclasses import dataclass, replace

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import count_words, cut_words
from crosslens.data.sentence import Text
from crosslens.data.subwords import word_prefix
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import cut_subwords
from crosslens.errors import DataError


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of a text by a vocabulary.

    Attributes:
        unknown: percentage of words that contain the unknown token.
        broken: percentage of words split into several subwords.
        fertility: subwords per word, not counting a lone word-start mark.
        characters: characters per subword; unknown words contribute no characters.
    """

    words: int
    unknown: float
    broken: float
    fertility: float
    characters: float


def measure_coverage(encoder: Encoder, corpus: Corpus) -> Coverage:
    """Measure how an encoder's vocabulary covers a corpus; running text is split at spaces and punctuation.

    Raises:
        DataError: when the corpus contains no words.
    """
    words = cut_words(corpus)
    sentences = [subwords for subwords in cut_subwords(encoder, words) if len(subwords)]
    if not sentences:
        raise DataError(f"{corpus.name} contains no words")
    lengths = np.asarray([len(word) for sentence in words.sentences for word in sentence.words])
    counts = np.concatenate([np.diff(s.starts) - (s.labelled - s.starts[:-1]) for s in sentences])
    unknown = encoder.tokenizer.unk_token_id
    unread = np.concatenate([np.add.reduceat(s.ids == unknown, s.starts[:-1]) > 0 for s in sentences])
    return Coverage(
        words=len(counts),
        unknown=100.0 * float(unread.mean()),
        broken=100.0 * float((counts > 1).mean()),
        fertility=float(counts.mean()),
        characters=float(lengths[~unread].sum() / counts.sum()),
    )


def fertility(encoder: Encoder, corpus: Corpus) -> float | None:
    """Compute the number of subwords per word, with lone word-start marks; None for text without words to count."""
    words = count_words(corpus)
    if word_prefix(encoder.for_language(corpus.language).tokenizer) is None:  # its subwords belong to no single word
        corpus = replace(corpus, items=tuple(Text((item.text,)) for item in corpus))
    return sum(len(subwords.ids) for subwords in cut_subwords(encoder, corpus)) / words if words else None
