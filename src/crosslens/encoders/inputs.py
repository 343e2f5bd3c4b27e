"""Split a corpus into subwords and windows for an encoder, counting unknown and truncated words."""

from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from transformers import PreTrainedTokenizerBase

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.data.subwords import LONGEST_WORD, Subwords, special_tokens, split_texts, split_words
from crosslens.data.windows import Window, cut_windows, room_for
from crosslens.encoders.encoder import Encoder
from crosslens.errors import EncoderError


@dataclass(frozen=True, slots=True, eq=False)
class EncodedCorpus:
    """A corpus split into windows.

    Attributes:
        windows: windows in corpus order.
        unknown: number of words without subwords, which were encoded as the unknown token.
        cut: number of truncated words, or of truncated texts.
        split: number of sentences longer than one window.
    """

    windows: tuple[Window, ...]
    unknown: int
    cut: int
    split: int

    @property
    def subwords(self) -> np.ndarray:
        """``(subwords,)``: ids of all subwords of the corpus, each once, without special tokens around texts."""
        return np.concatenate([np.empty(0, np.int64), *(each.ids[slice(*each.span)] for each in self.windows)])


def read_windows(
    encoder: Encoder, corpus: Corpus, *, window: int | None = None, context: int | None = None
) -> EncodedCorpus:
    """Split a corpus into windows for an encoder.

    Args:
        encoder: encoder that sets the tokenizer, the maximum length and the `Encoder.reading`.
        corpus: sentences of words, or running text.
        window: subwords per window, special tokens and repetitions included; at most the encoder's capacity.
        context: subwords that neighbouring windows share; default, also if ``window`` exceeds the capacity:
            half a window.
    """
    encoder = encoder.for_language(corpus.language)
    capacity = min(window or encoder.capacity, encoder.capacity)
    if window is not None and capacity < window:
        context = None
    specials = special_tokens(encoder.tokenizer)
    room = room_for(specials, capacity=capacity, repeat=encoder.reading.repeat)
    subwords = cut_subwords(encoder, corpus, longest=max(1, min(LONGEST_WORD, room)))
    if encoder.reading.subword == "last":
        subwords = [replace(each, labelled=each.starts[1:] - 1) for each in subwords]
    windows = cut_windows(subwords, specials, capacity=capacity, context=context, repeat=encoder.reading.repeat)
    return EncodedCorpus(
        windows=tuple(windows),
        unknown=sum(s.unknown for s in subwords),
        cut=sum(s.cut for s in subwords),
        split=sum(len(s.ids) > room for s in subwords),
    )


def read_texts(encoder: Encoder, corpus: Corpus, *, window: int | None = None) -> EncodedCorpus:
    """Encode each text or pair of texts as one window, with the tokenizer's special tokens around and between texts.

    The labelled position is the special token before the text; in a decoder, where that token sees no other, it is the
    last token. The span of each window holds its texts (of a repeated input, their last copy). Long texts are truncated
    at the end; in a pair, the longer text is truncated first.

    Args:
        window: subwords per window, special tokens and repetitions included; at most the encoder's capacity.

    Raises:
        EncoderError: if a window has no room for the copies of a repeated text.
    """
    encoder = encoder.for_language(corpus.language)
    before, after = special_tokens(encoder.tokenizer)
    repeat = encoder.reading.repeat
    capacity = min(window or encoder.capacity, encoder.capacity)
    room = room_for((before, after), capacity=capacity, repeat=repeat)
    if room < 1:
        raise EncoderError(
            f"windows of {capacity} subwords leave no room for {repeat} copies of a text", hint="use a larger window"
        )
    capacity = len(before) + room + len(after)
    windows: dict[int, Window] = {}
    cut = 0
    for count in (1, 2):
        numbers = [number for number, text in enumerate(corpus.texts) if len(text.segments) == count]
        if not numbers:
            continue
        firsts = [corpus.texts[number].segments[0] for number in numbers]
        seconds = [corpus.texts[number].segments[1] for number in numbers] if count == 2 else None
        full = encoder.tokenizer(firsts, seconds, truncation=False, verbose=False)["input_ids"]
        encoded = encoder.tokenizer(
            firsts, seconds, truncation="longest_first", max_length=capacity, return_token_type_ids=True, verbose=False
        )
        for row, number in enumerate(numbers):
            once = np.asarray(encoded["input_ids"][row], np.int64)
            start, stop = len(before), len(once) - len(after)
            copies = np.tile(np.arange(start, stop), repeat)
            order = np.concatenate([np.arange(start), copies, np.arange(stop, len(once))])
            ids = once[order]
            position = len(ids) - 1 if encoder.family.decoder or not len(before) else 0
            segments = np.asarray(encoded["token_type_ids"][row], np.int64)[order] if encoder.has_segments else None
            end = len(ids) - len(after)
            starts = np.asarray([end - (stop - start), end])
            windows[number] = Window(number, 0, 1, ids, np.asarray([position]), starts, len(before), segments)
            cut += len(full[row]) > capacity
    return EncodedCorpus(tuple(windows[number] for number in sorted(windows)), 0, cut, 0)


CODE_POSITIONS = 200
"""Maximum subwords of a sentence in the published script of Muller et al. (2021), with the inner special tokens."""


def read_doubled(encoder: Encoder, corpus: Corpus) -> EncodedCorpus:
    """Encode running text as the published script of Muller et al. (2021) does, with special tokens twice on each side.

    The span of each window holds its subwords and the inner special tokens.
    """
    encoder = encoder.for_language(corpus.language)
    before, after = special_tokens(encoder.tokenizer)
    limit = min(CODE_POSITIONS, encoder.capacity - len(before) - len(after))
    windows, split = [], 0
    for number, subwords in enumerate(split_texts([item.text for item in corpus], encoder.tokenizer)):
        inner = np.concatenate([before, subwords.ids, after])
        split += len(inner) > limit
        inner = inner[:limit]
        ids = np.concatenate([before, inner, after])
        starts = len(before) + np.arange(len(inner) + 1)
        windows.append(Window(number, 0, len(inner), ids, starts[:-1], starts, len(before)))
    return EncodedCorpus(tuple(windows), 0, 0, split)


CACHED_CORPORA = 64
"""Maximum corpora cached per tokenizer; the oldest is dropped first."""

_subword_cache: WeakKeyDictionary[PreTrainedTokenizerBase, dict[tuple[str, int], list[Subwords]]] = WeakKeyDictionary()
"""Tokenizer -> (corpus digest, maximum subwords of a word) -> subwords. Runs of a study share the cache; entries are
dropped with their tokenizer."""


def cut_subwords(encoder: Encoder, corpus: Corpus, *, longest: int = LONGEST_WORD) -> list[Subwords]:
    """Split each item into subwords without special tokens; results are cached per tokenizer."""
    encoder = encoder.for_language(corpus.language)
    tokenizer = encoder.tokenizer
    cached = _subword_cache.setdefault(tokenizer, {})
    key = (corpus.digest, longest)
    if key not in cached:
        if len(cached) >= CACHED_CORPORA:
            del cached[next(iter(cached))]
        if all(isinstance(item, Sentence) for item in corpus):
            cached[key] = split_words([sentence.words for sentence in corpus.sentences], tokenizer, longest=longest)
        else:
            cached[key] = split_texts([item.text for item in corpus], tokenizer)
    return cached[key]
