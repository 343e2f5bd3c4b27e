"""Vocabulary coverage: unknown words, split words and fertility of a text."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from transformers import PreTrainedTokenizerBase

from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import count_words, cut_words
from crosslens.data.sentence import Text
from crosslens.data.subwords import lone_prefixes, split_words, word_prefix
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
    """Measure how an encoder's vocabulary covers a corpus (Rust et al. 2021, section 3.3).

    Args:
        encoder: its tokenizer for the language of the corpus is used.
        corpus: sentences, or running text, which is split at spaces and punctuation.

    Returns:
        Percentages of words that are unknown and split, and means over words and subwords.

    Raises:
        DataError: when the corpus contains no words.

    Examples:
        >>> covered = xl.measure_coverage(encoder, xl.load_corpus([["日", "no"]], language="ja"))
        >>> covered.words, covered.unknown
        (2, 50.0)
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


def unknown_characters(encoder: Encoder, corpus: Corpus) -> dict[str, int]:
    """Count the characters of unknown words that the vocabulary has no subword for.

    >>> xl.unknown_characters(encoder, xl.load_corpus([["日", "no", "日"]], language="ja"))
    {'日': 2}

    Args:
        encoder: its tokenizer for the language of the corpus is used.
        corpus: sentences, or running text, which is split at spaces and punctuation.

    Returns:
        Character -> number of occurrences in unknown words, most frequent first.
    """
    tokenizer = encoder.for_language(corpus.language).tokenizer
    words = Counter(word for sentence in cut_words(corpus).sentences for word in sentence.words)

    def unknown(probes: Iterable[str]) -> list[str]:
        probes = list(probes)
        split = split_words([[probe] for probe in probes], tokenizer)
        pairs = zip(probes, split, strict=True)
        # A character that the tokenizer leaves out, such as a combining mark, is not an unknown one.
        return [probe for probe, cut in pairs if tokenizer.unk_token_id in cut.ids and not cut.unknown]

    characters: Counter[str] = Counter()
    for word in unknown(words):
        for character in word:
            characters[character] += words[word]
    # Within a word, WordPiece needs a subword of its own, such as ##a.
    probes = (probe for character in characters for probe in (character, character * 2))
    lacking = {probe[0] for probe in unknown(probes)}
    return {character: count for character, count in characters.most_common() if character in lacking}


def fertility(encoder: Encoder, corpus: Corpus) -> float | None:
    """Compute the number of subwords per word, with lone word-start marks; None for text without words to count."""
    words = count_words(corpus)
    return len(_subwords(encoder, corpus)) / words if words else None


def count_unknown(encoder: Encoder, corpus: Corpus) -> dict[str, int]:
    """Count a corpus's subwords and those that are the unknown token, as `count_unknown_ids` does."""
    return count_unknown_ids(encoder.for_language(corpus.language).tokenizer, _subwords(encoder, corpus))


def count_unknown_ids(tokenizer: PreTrainedTokenizerBase, subwords: np.ndarray) -> dict[str, int]:
    """Count subwords and those that are the unknown token; a lone word-start mark counts as no subword.

    Args:
        subwords: ``(subwords,)`` ids.

    Returns:
        ``subwords`` and ``unknown_subwords``, which are tags of records.
    """
    subwords = subwords[~np.isin(subwords, lone_prefixes(tokenizer))]
    unknown = tokenizer.unk_token_id
    return {
        "subwords": len(subwords),
        "unknown_subwords": 0 if unknown is None else int(np.count_nonzero(subwords == unknown)),
    }


def _subwords(encoder: Encoder, corpus: Corpus) -> np.ndarray:
    """``(subwords,)``: ids of all subwords, also of tokenizers whose subwords belong to no single word."""
    if word_prefix(encoder.for_language(corpus.language).tokenizer) is None:
        corpus = replace(corpus, items=tuple(Text((item.text,)) for item in corpus))
    return np.concatenate([np.empty(0, np.int64), *(each.ids for each in cut_subwords(encoder, corpus))])
