"""Align words with subwords: every word has at least one subword, and one of them carries its label."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosslens.errors import EncoderError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONE_PREFIXES = ("▁", "Ġ", "##", " ")
"""Word boundary and continuation markers, which can be subwords without characters; ByT5's marker is the space."""

_IDS_ALONE: dict[str, Any] = {
    "add_special_tokens": False,
    "truncation": False,
    "padding": False,
    "return_attention_mask": False,
    "return_token_type_ids": False,
    "verbose": False,
}
"""Options of a tokenizer for the ids of all subwords and nothing else."""

LONGEST_WORD = 64
"""Maximum number of subwords per word, so that a long URL cannot fill a window."""


@dataclass(frozen=True, slots=True, eq=False)
class Subwords:
    """Subwords of one sentence, without special tokens.

    Attributes:
        ids: ids of the subwords, ``(subwords,)`` int64.
        starts: word w has the subwords ``starts[w]`` to ``starts[w + 1]``, ``(words + 1,)``.
        labelled: subword that represents each word, ``(words,)``: the first with a character. XLM-R often begins a
            word with a lone ``▁``, which carries no information.
        unknown: number of words without subwords (control characters, zero-width spaces); they get the unknown token,
            so that they are predicted and scored like any other word.
        cut: number of words truncated to `LONGEST_WORD` subwords.
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
    """Split the words of each sentence into subwords, as in running text with spaces between words.

    The first word of a sentence is split like any other word, with the tokenizer's word boundary marker, if any.

    Raises:
        EncoderError: if a word has no subword and the tokenizer has no unknown token, or if the tokenizer splits words
            in running text differently than alone.
    """
    prefix = word_prefix(tokenizer)
    if prefix is None:
        raise EncoderError(
            "this tokenizer splits a word in running text differently than alone: subwords cannot be assigned to words",
            hint="use another encoder, or a task on running text (document, nli)",
        )
    distinct: dict[str, int] = {}  # a word is split the same way everywhere
    numbers = _joined((distinct.setdefault(word, len(distinct)) for word in words) for words in sentences)
    subwords, owners = _tokenized([prefix + word for word in distinct], tokenizer)
    counts = np.bincount(owners, minlength=len(distinct))
    empty = counts == 0
    if empty.any():
        if tokenizer.unk_token_id is None:
            word = list(distinct)[int(empty.argmax())]
            raise EncoderError(
                f"the word {word!r} has no subword, and the tokenizer has no unknown token",
                hint="remove the word, or use an encoder whose tokenizer has one",
            )
        subwords = np.insert(subwords, np.searchsorted(owners, np.flatnonzero(empty)), tokenizer.unk_token_id)
        counts = np.maximum(counts, 1)
    cut = counts > longest
    if cut.any():
        within = np.arange(len(subwords)) - np.repeat(_offsets(counts), counts)
        subwords, counts = subwords[within < longest], np.minimum(counts, longest)
    offsets = _offsets(counts)
    after_marker = np.isin(subwords[offsets], lone_prefixes(tokenizer)) & (counts > 1)

    starts = np.concatenate([[0], np.cumsum(counts[numbers])])
    ids = subwords[np.arange(starts[-1]) + np.repeat(offsets[numbers] - starts[:-1], counts[numbers])]
    labelled = starts[:-1] + after_marker[numbers]
    result = []
    for first, last in itertools.pairwise(np.cumsum([0, *map(len, sentences)])):
        begin, end = starts[first], starts[last]
        words = numbers[first:last]
        result.append(
            Subwords(
                ids[begin:end],
                starts[first : last + 1] - begin,
                labelled[first:last] - begin,
                int(empty[words].sum()),
                int(cut[words].sum()),
            )
        )
    return result


def lone_prefixes(tokenizer: "PreTrainedTokenizerBase") -> list[int]:
    """Ids of the subwords without characters, those of `LONE_PREFIXES` that the vocabulary has."""
    markers = [(marker, tokenizer.convert_tokens_to_ids(marker)) for marker in LONE_PREFIXES]
    # Markers that are not in the vocabulary have the id of the unknown token.
    return [i for marker, i in markers if isinstance(i, int) and tokenizer.convert_ids_to_tokens(i) == marker]


PROBES = ("a b", "the cat sat", "дом и кот", "και η", "بيت من", "एक घर", "집 안", "猫 狗", "แมว ดี")
"""Texts for `word_prefix` and `special_tokens`: words separated by spaces, in scripts with and without spaces."""


def word_prefix(tokenizer: "PreTrainedTokenizerBase") -> str | None:
    """Find the prefix that gives a single word the same subwords as in running text.

    Many tokenizers mark the beginning of every word. Those of Qwen, Llama 3 and Gemma mark the space instead, so that
    single words would look like the middle of one long word; they need a space.

    Returns:
        An empty string or a space; None if the subwords differ from those in running text either way.
    """
    running = {text: tokenizer.encode(text, add_special_tokens=False) for text in PROBES}
    # Unknown words look the same with and without a prefix.
    probes = [(text.split(), ids) for text, ids in running.items() if tokenizer.unk_token_id not in ids]
    for prefix in ("", " "):
        prefixed = [([words[0], *(prefix + word for word in words[1:])], ids) for words, ids in probes]
        if all(_tokenized(words, tokenizer)[0].tolist() == ids for words, ids in prefixed):
            return prefix
    return None


def split_texts(texts: Sequence[str], tokenizer: "PreTrainedTokenizerBase") -> list[Subwords]:
    """Split running text into subwords, each treated as a word, without truncation."""
    encoded = tokenizer(list(texts), **_IDS_ALONE)["input_ids"]
    subwords = [np.asarray(ids, np.int64) for ids in encoded]
    return [Subwords(ids, np.arange(len(ids) + 1), np.arange(len(ids)), 0, 0) for ids in subwords]


def special_tokens(tokenizer: "PreTrainedTokenizerBase") -> tuple[np.ndarray, np.ndarray]:
    """Ids of the special tokens before and after a single sentence.

    Raises:
        EncoderError: for a tokenizer that has no subword of common letters of several scripts.
    """
    texts = ("a", *PROBES)
    text = next((text for text in texts if tokenizer.encode(text, add_special_tokens=False)), None)
    if text is None:
        raise EncoderError(f"the tokenizer has no subword for {', '.join(texts)}", hint="check its vocabulary")
    bare = tokenizer.encode(text, add_special_tokens=False)
    whole = tokenizer.encode(text, add_special_tokens=True)
    before = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return np.asarray(whole[:before], np.int64), np.asarray(whole[before + len(bare) :], np.int64)


WORDS_AT_ONCE = 1000
"""Words passed to a tokenizer as one sentence: few calls, but enough sentences for its threads."""


def _tokenized(words: list[str], tokenizer: "PreTrainedTokenizerBase") -> tuple[np.ndarray, np.ndarray]:
    """Ids of the subwords of all words, and the index of the word of each subword."""
    if not words:
        return _joined([]), _joined([])
    if not tokenizer.is_fast:  # slow tokenizers give no alignment, so word by word
        ids = [tokenizer.encode(word, add_special_tokens=False) for word in words]
        return _joined(ids), np.repeat(np.arange(len(words)), list(map(len, ids)))
    starts = range(0, len(words), WORDS_AT_ONCE)
    parts = [words[start : start + WORDS_AT_ONCE] for start in starts]
    encoded = tokenizer(parts, is_split_into_words=True, **_IDS_ALONE)
    within = _joined(encoded.word_ids(index) for index in range(len(starts)))
    return _joined(encoded["input_ids"]), within + np.repeat(starts, list(map(len, encoded["input_ids"])))


def _offsets(counts: np.ndarray) -> np.ndarray:
    """Offset of the first subword of each word."""
    return np.cumsum(counts) - counts


def _joined(lists: Iterable[Iterable[int | None]]) -> np.ndarray:
    return np.fromiter(itertools.chain.from_iterable(lists), np.int64)
