"""Split a corpus into subwords and windows for an encoder, counting unknown and truncated words."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from transformers import PreTrainedTokenizerBase

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.data.subwords import LONGEST_WORD, Subwords, special_tokens, split_texts, split_words
from crosslens.data.windows import Window, cut_windows
from crosslens.encoders.encoder import Encoder


@dataclass(frozen=True, slots=True, eq=False)
class EncodedCorpus:
    """The windows of a corpus.

    Attributes:
        windows: in the corpus's order.
        unknown: words that have no piece of their own and were read as the unknown token.
        cut: words, or whole texts, so long that only their first pieces were read.
        split: sentences too long for one window.
    """

    windows: tuple[Window, ...]
    unknown: int
    cut: int
    split: int


def read_windows(
    encoder: Encoder, corpus: Corpus, *, window: int | None = None, context: int | None = None
) -> EncodedCorpus:
    """Cut a corpus for an encoder.

    Args:
        encoder: whose tokenizer and positions are used.
        corpus: sentences of words, or running text.
        window: subwords a window, special tokens included; never more than the encoder has positions for.
        context: subwords that neighbouring windows share; half a window where the encoder has no room for windows of
            the size that is asked for.
    """
    encoder = encoder.for_language(corpus.language)
    capacity = min(window or encoder.capacity, encoder.capacity)
    if window is not None and capacity < window:
        context = None
    specials = special_tokens(encoder.tokenizer)
    room = capacity - len(specials[0]) - len(specials[1])
    subwords = cut_subwords(encoder, corpus, longest=max(1, min(LONGEST_WORD, room)))
    windows = cut_windows(subwords, specials, capacity=capacity, context=context)
    return EncodedCorpus(
        windows=tuple(windows),
        unknown=sum(s.unknown for s in subwords),
        cut=sum(s.cut for s in subwords),
        split=sum(len(s.ids) > room for s in subwords),
    )


def read_texts(encoder: Encoder, corpus: Corpus, *, window: int | None = None) -> EncodedCorpus:
    """Texts and pairs of texts, a window each, with the special tokens that the tokenizer puts around and between them.

    One place answers for the text: the special token before it; in a decoder, where that has seen nothing, the last
    one. Of a text too long for its window the end is left out, of a pair that of the longer segment.

    Args:
        encoder: whose tokenizer and positions are used.
        corpus: running text.
        window: subwords a window, special tokens included; never more than the encoder has positions for.
    """
    encoder = encoder.for_language(corpus.language)
    capacity = min(window or encoder.capacity, encoder.capacity)
    specials = np.asarray(encoder.tokenizer.all_special_ids)
    windows: dict[int, Window] = {}
    cut = 0
    for count in (1, 2):
        numbers = [number for number, text in enumerate(corpus.texts) if len(text.segments) == count]
        if not numbers:
            continue
        firsts = [corpus.texts[number].segments[0] for number in numbers]
        seconds = [corpus.texts[number].segments[1] for number in numbers] if count == 2 else None
        whole = encoder.tokenizer(firsts, seconds, truncation=False, verbose=False)["input_ids"]
        encoded = encoder.tokenizer(
            firsts, seconds, truncation="longest_first", max_length=capacity, return_token_type_ids=True, verbose=False
        )
        for row, number in enumerate(numbers):
            ids = np.asarray(encoded["input_ids"][row], np.int64)
            place = len(ids) - 1 if encoder.family.decoder or ids[0] not in specials else 0
            segments = np.asarray(encoded["token_type_ids"][row], np.int64) if encoder.has_segments else None
            windows[number] = Window(number, 0, 1, ids, np.asarray([place]), (place, place + 1), segments)
            cut += len(whole[row]) > capacity
    return EncodedCorpus(tuple(windows[number] for number in sorted(windows)), 0, cut, 0)


CODE_POSITIONS = 200
"""Subwords that the first paper's published script reads of a sentence, before the tokenizer's special tokens."""


def read_doubled(encoder: Encoder, corpus: Corpus) -> EncodedCorpus:
    """Running text as the first paper's published script reads it: with special tokens twice on either side.

    Each window answers for its subwords and the inner special tokens.
    """
    encoder = encoder.for_language(corpus.language)
    before, after = special_tokens(encoder.tokenizer)
    most = min(CODE_POSITIONS, encoder.capacity - len(before) - len(after))
    windows, split = [], 0
    for number, pieces in enumerate(split_texts([item.text for item in corpus], encoder.tokenizer)):
        inner = np.concatenate([before, pieces.ids, after])
        split += len(inner) > most
        inner = inner[:most]
        ids = np.concatenate([before, inner, after])
        span = (len(before), len(before) + len(inner))
        windows.append(Window(number, 0, len(inner), ids, np.arange(*span), span))
    return EncodedCorpus(tuple(windows), 0, 0, split)


KEPT = 64
"""Corpora whose subwords are cached per tokenizer; the oldest is dropped first."""

_subword_cache: WeakKeyDictionary[PreTrainedTokenizerBase, dict[tuple[str, int], list[Subwords]]] = WeakKeyDictionary()
"""Tokenizer -> (digest of the corpus, longest word) -> subwords. Runs of a study share it; an entry ends with its
tokenizer."""


def cut_subwords(encoder: Encoder, corpus: Corpus, *, longest: int = LONGEST_WORD) -> list[Subwords]:
    """Split every item into subwords, without special tokens; results are cached per tokenizer.

    Args:
        encoder: whose tokenizer is used.
        corpus: sentences of words, or running text.
        longest: maximum number of subwords of a word.
    """
    encoder = encoder.for_language(corpus.language)
    tokenizer = encoder.tokenizer
    cached = _subword_cache.setdefault(tokenizer, {})
    key = (corpus.digest, longest)
    if key not in cached:
        if len(cached) >= KEPT:
            del cached[next(iter(cached))]
        if all(isinstance(item, Sentence) for item in corpus):
            cached[key] = split_words([sentence.words for sentence in corpus.sentences], tokenizer, longest=longest)
        else:
            cached[key] = split_texts([item.text for item in corpus], tokenizer)
    return cached[key]
