"""Alignment of words to subwords: every word has at least one subword, and one of them carries its label."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosslens.errors import EncoderError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONE_PREFIXES = ("▁", "Ġ", "##", " ")
"""Subwords that mark where a word begins or goes on and carry no character of it; ByT5's mark is the space itself."""

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
    """Split the words of each sentence into subwords, as the tokenizer splits running text with spaces between words.

    The first word of a sentence is split like any other word: with the mark of a word's beginning, where the
    tokenizer has one.

    Args:
        sentences: words, sentence by sentence.
        tokenizer: the encoder's tokenizer.
        longest: subwords kept of one word.

    Raises:
        EncoderError: when a word has no subword and the tokenizer has no unknown token, or when the tokenizer splits
            words in running text otherwise than alone.
    """
    prefix = word_prefix(tokenizer)
    if prefix is None:
        raise EncoderError(
            "this tokenizer splits a word in running text differently than alone: subwords cannot be assigned to words",
            hint="use another encoder, or a task on running text (document, nli)",
        )
    distinct: dict[str, int] = {}  # a word is cut the same wherever it stands
    numbers = _joined((distinct.setdefault(word, len(distinct)) for word in words) for words in sentences)
    pieces, owners = _pieces([prefix + word for word in distinct], tokenizer)
    counts = np.bincount(owners, minlength=len(distinct))
    empty = counts == 0
    if empty.any():
        if tokenizer.unk_token_id is None:
            word = list(distinct)[int(empty.argmax())]
            raise EncoderError(
                f"the word {word!r} has no subword, and the tokenizer has no unknown token",
                hint="remove the word, or use an encoder whose tokenizer has one",
            )
        pieces = np.insert(pieces, np.searchsorted(owners, np.flatnonzero(empty)), tokenizer.unk_token_id)
        counts = np.maximum(counts, 1)
    cut = counts > longest
    if cut.any():
        within = np.arange(len(pieces)) - np.repeat(_places(counts), counts)
        pieces, counts = pieces[within < longest], np.minimum(counts, longest)
    places = _places(counts)
    lone = [(piece, tokenizer.convert_tokens_to_ids(piece)) for piece in LONE_PREFIXES]  # or the unknown piece's
    lone = [i for piece, i in lone if i is not None and tokenizer.convert_ids_to_tokens(i) == piece]
    later = np.isin(pieces[places], lone) & (counts > 1)

    starts = np.concatenate([[0], np.cumsum(counts[numbers])])
    ids = pieces[np.arange(starts[-1]) + np.repeat(places[numbers] - starts[:-1], counts[numbers])]
    labelled = starts[:-1] + later[numbers]
    result = []
    for first, last in itertools.pairwise(np.cumsum([0, *map(len, sentences)])):
        begin, end = starts[first], starts[last]
        chosen = numbers[first:last]
        inner = starts[first : last + 1] - begin
        result.append(
            Subwords(
                ids[begin:end], inner, labelled[first:last] - begin, int(empty[chosen].sum()), int(cut[chosen].sum())
            )
        )
    return result


PROBES = ("a b", "the cat sat", "дом и кот", "και η", "بيت من", "एक घर", "집 안", "猫 狗", "แมว ดี")
"""Words with spaces between them, in scripts with and without spaces, on which `word_prefix` tries a tokenizer."""


def word_prefix(tokenizer: "PreTrainedTokenizerBase") -> str | None:
    """What to put before each word so that its subwords are those that it has in running text.

    Many tokenizers mark the beginning of every word that they are given. Qwen's, Llama 3's and Gemma's mark the space
    instead, so that words given one by one would look like the middle of one long word; they need the space.

    Args:
        tokenizer: any.

    Returns:
        Nothing or a space; None when a word's subwords differ from those in running text either way.
    """
    running = {text: tokenizer.encode(text, add_special_tokens=False) for text in PROBES}
    # Unknown words are alike with and without a mark.
    probes = [(text.split(), ids) for text, ids in running.items() if tokenizer.unk_token_id not in ids]
    for prefix in ("", " "):
        given = [[words[0], *(prefix + word for word in words[1:])] for words, _ in probes]
        if all(_pieces(words, tokenizer)[0].tolist() == ids for words, (_, ids) in zip(given, probes, strict=True)):
            return prefix
    return None


def split_texts(texts: Sequence[str], tokenizer: "PreTrainedTokenizerBase") -> list[Subwords]:
    """Cut running text into pieces. It has no words yet, so every piece stands for one; nothing is cut off.

    Args:
        texts: running text.
        tokenizer: the encoder's tokenizer.
    """
    encoded = tokenizer(
        list(texts),
        add_special_tokens=False,
        truncation=False,
        padding=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )["input_ids"]
    pieces = [np.asarray(ids, np.int64) for ids in encoded]
    return [Subwords(ids, np.arange(len(ids) + 1), np.arange(len(ids)), 0, 0) for ids in pieces]


def special_tokens(tokenizer: "PreTrainedTokenizerBase") -> tuple[np.ndarray, np.ndarray]:
    """The ids that the tokenizer puts before and after a single sentence."""
    bare = tokenizer.encode("a", add_special_tokens=False)
    whole = tokenizer.encode("a", add_special_tokens=True)
    before = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    return np.asarray(whole[:before], np.int64), np.asarray(whole[before + len(bare) :], np.int64)


WORDS_AT_ONCE = 1000
"""Words handed to a tokenizer as one sentence: few calls, and something for each of its threads."""


def _pieces(words: list[str], tokenizer: "PreTrainedTokenizerBase") -> tuple[np.ndarray, np.ndarray]:
    """The ids of all words' pieces, and for each the number of the word it belongs to."""
    if not words:
        return _joined([]), _joined([])
    if not tokenizer.is_fast:  # written in Python only: no alignment to ask for, so word by word
        known = [tokenizer.encode(word, add_special_tokens=False) for word in words]
        return _joined(known), np.repeat(np.arange(len(words)), list(map(len, known)))
    starts = range(0, len(words), WORDS_AT_ONCE)
    encoded = tokenizer(
        [words[start : start + WORDS_AT_ONCE] for start in starts],
        is_split_into_words=True,
        add_special_tokens=False,
        truncation=False,
        padding=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,
    )
    within = _joined(encoded.word_ids(place) for place in range(len(starts)))
    return _joined(encoded["input_ids"]), within + np.repeat(starts, list(map(len, encoded["input_ids"])))


def _places(counts: np.ndarray) -> np.ndarray:
    """Where each word's pieces begin."""
    return np.cumsum(counts) - counts


def _joined(lists: Iterable[Iterable[int | None]]) -> np.ndarray:
    return np.fromiter(itertools.chain.from_iterable(lists), np.int64)
