"""The one alignment of words to subwords: every word has at least one piece, and one piece that answers for it."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosslens.errors import EncoderError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONE_PREFIXES = ("▁", "Ġ", "##")
"""Pieces that mark where a word begins or goes on and carry no character of it."""

LONGEST_WORD = 64
"""Pieces kept of one word: a URL of a thousand pieces must not fill a window by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Subwords:
    """The pieces of one sentence, without special tokens.

    Attributes:
        ids: ``(pieces,)`` int64.
        starts: ``(words + 1,)``: word w has the pieces ``starts[w]`` to ``starts[w + 1]``, at least one.
        labelled: ``(words,)``: the piece that answers for each word: its first that carries a character.
            XLM-R's vocabulary often cuts a lone ``▁`` first, which says nothing of the word.
        unknown: words that had no piece at all (a control character, a zero-width space) and were given the
            unknown token, so that they are predicted and scored like any other.
        cut: words of which only the first `LONGEST_WORD` pieces were kept.
    """

    ids: np.ndarray
    starts: np.ndarray
    labelled: np.ndarray
    unknown: int
    cut: int

    def __len__(self) -> int:
        return len(self.labelled)


def split_words(
    sentences: Sequence[Sequence[str]], tokenizer: "PreTrainedTokenizerBase", *, longest: int = LONGEST_WORD
) -> list[Subwords]:
    """Cut the words of each sentence into pieces.

    Args:
        sentences: words, sentence by sentence.
        tokenizer: the encoder's tokenizer.
        longest: pieces kept of one word.

    Raises:
        EncoderError: when a word has no piece and the tokenizer has no unknown token.
    """
    numbers = [(piece, tokenizer.convert_tokens_to_ids(piece)) for piece in LONE_PREFIXES]  # or the unknown piece's
    lone = [i for piece, i in numbers if i is not None and tokenizer.convert_ids_to_tokens(i) == piece]
    result = []
    for words, (ids, owners) in zip(sentences, _pieces(sentences, tokenizer), strict=True):
        counts = np.bincount(owners, minlength=len(words))
        empty = counts == 0
        if empty.any():
            if tokenizer.unk_token_id is None:
                word = words[int(empty.argmax())]
                raise EncoderError(
                    f"the word {word!r} has no subword, and the tokenizer has no unknown token",
                    hint="remove the word, or use an encoder whose tokenizer has one",
                )
            # A word's pieces stand where its first one stood; an empty word's would stand before the next word's.
            places = np.searchsorted(owners, np.flatnonzero(empty))
            ids = np.insert(ids, places, tokenizer.unk_token_id)
            counts = np.maximum(counts, 1)
        cut = counts > longest
        if cut.any():
            starts = np.concatenate([[0], np.cumsum(counts)])
            ids = np.concatenate([ids[a : min(b, a + longest)] for a, b in itertools.pairwise(starts)])
            counts = np.minimum(counts, longest)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        first = starts[:-1]
        labelled = first + (np.isin(ids[first], lone) & (counts > 1)) if lone else first
        result.append(Subwords(ids, starts, labelled, int(empty.sum()), int(cut.sum())))
    return result


def split_texts(texts: Sequence[str], tokenizer: "PreTrainedTokenizerBase") -> list[Subwords]:
    """Cut running text into pieces. It has no words yet, so every piece stands for one; nothing is cut off.

    Args:
        texts: running text.
        tokenizer: the encoder's tokenizer.
    """
    encoded = tokenizer(
        list(texts), add_special_tokens=False, truncation=False, padding=False, return_attention_mask=False,
        return_token_type_ids=False, verbose=False,
    )["input_ids"]  # fmt: skip
    pieces = [np.asarray(ids, np.int64) for ids in encoded]
    return [Subwords(ids, np.arange(len(ids) + 1), np.arange(len(ids)), 0, 0) for ids in pieces]


def special_tokens(tokenizer: "PreTrainedTokenizerBase") -> tuple[np.ndarray, np.ndarray]:
    """The ids that the tokenizer puts before and after a single sentence."""
    bare = tokenizer.encode("a", add_special_tokens=False)
    whole = tokenizer.encode("a", add_special_tokens=True)
    before = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return np.asarray(whole[:before], np.int64), np.asarray(whole[before + len(bare) :], np.int64)


def _pieces(
    sentences: Sequence[Sequence[str]], tokenizer: "PreTrainedTokenizerBase"
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each sentence its ids and, for each id, the number of the word it belongs to."""
    if not tokenizer.is_fast:  # written in Python only: no alignment to ask for, so word by word
        vocabulary = {word for words in sentences for word in words}
        known = {word: tokenizer.encode(word, add_special_tokens=False) for word in vocabulary}
        result = []
        for words in sentences:
            ids = np.asarray([i for word in words for i in known[word]], np.int64)
            result.append((ids, np.repeat(np.arange(len(words)), [len(known[word]) for word in words])))
        return result
    filled = [number for number, words in enumerate(sentences) if len(words)]
    nothing = (np.empty(0, np.int64), np.empty(0, np.int64))
    result = [nothing] * len(sentences)
    if filled:
        encoded = tokenizer(
            [list(sentences[number]) for number in filled],
            is_split_into_words=True, add_special_tokens=False, truncation=False, padding=False,
            return_attention_mask=False, return_token_type_ids=False, verbose=False,
        )  # fmt: skip
        for place, number in enumerate(filled):
            ids = np.asarray(encoded["input_ids"][place], np.int64)
            result[number] = (ids, np.asarray(encoded.word_ids(place), np.int64))
    return result
