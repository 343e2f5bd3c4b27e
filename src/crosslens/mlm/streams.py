"""Batches of raw text for language modelling, from streams or single lines, and the subwords to predict in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
from transformers import PreTrainedTokenizerFast

from crosslens.data.subwords import special_tokens
from crosslens.digests import stream_seed
from crosslens.errors import RequestError
from crosslens.mlm.pretrain_settings import Masking
from crosslens.mlm.vocabulary import encode_lines


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """Sequences of equal length cut from each language's concatenated text; each batch is in one language.

    Attributes:
        sequences: for each language ``(sequences, length)`` ids, special tokens included.
        order: ``(steps,)`` index of each step's language.
        turn: ``(steps,)`` number of preceding steps in the same language.
        seed: random seed for the order of sequences.
    """

    languages: tuple[str, ...]
    sequences: tuple[np.ndarray, ...]
    order: np.ndarray
    turn: np.ndarray
    seed: int

    def batch(self, step: int, *, size: int) -> np.ndarray:
        """``(size, length)`` ids of a step; sequences are reshuffled in every epoch of their language."""
        language = int(self.order[step])
        rows = self.sequences[language]
        first = int(self.turn[step]) * size
        epochs = range(first // len(rows), (first + size - 1) // len(rows) + 1)
        seeds = [stream_seed(self.seed, "sequences", self.languages[language], epoch) for epoch in epochs]
        shuffled = np.concatenate([np.random.default_rng(seed).permutation(len(rows)) for seed in seeds])
        start = first - epochs[0] * len(rows)
        return rows[shuffled[start : start + size]]

    def language(self, step: int) -> str:
        """Language of a step."""
        return self.languages[int(self.order[step])]

    def subwords(self, steps: int, *, size: int) -> int:
        """Number of subwords in the first ``steps`` steps, special tokens included."""
        return steps * size * self.sequences[0].shape[1]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines grouped by length, so that batches need no padding.

    Attributes:
        languages: language of each group; None: lines of all languages.
        sequences: for each group ``(lines, length)`` ids, special tokens included.
        plan: ``(batches, 3)``: group, first line, and end line (exclusive) of each batch of an epoch.
        seed: random seed for the order of lines and batches.
    """

    languages: tuple[str | None, ...]
    sequences: tuple[np.ndarray, ...]
    plan: np.ndarray
    seed: int

    def batch(self, step: int, *, size: int) -> np.ndarray:
        """``(lines, length)`` ids of a step; every epoch reads each line once and shuffles lines and batches."""
        epoch, place = divmod(step, len(self.plan))
        group, first, end = self.plan[self._order(epoch)[place]]
        rows = self.sequences[group]
        shuffled = np.random.default_rng(stream_seed(self.seed, "lines", epoch, int(group))).permutation(len(rows))
        return rows[shuffled[first:end]]

    def language(self, step: int) -> str | None:
        """Language of a step; None: possibly several."""
        epoch, place = divmod(step, len(self.plan))
        return self.languages[self.plan[self._order(epoch)[place]][0]]

    def subwords(self, steps: int, *, size: int) -> int:
        """Number of subwords in the first ``steps`` steps, special tokens included."""
        counts = np.asarray([(end - first) * self.sequences[group].shape[1] for group, first, end in self.plan])
        epochs, partial = divmod(steps, len(self.plan))
        return int(epochs * counts.sum() + counts[self._order(epochs)[:partial]].sum())

    def _order(self, epoch: int) -> np.ndarray:
        return np.random.default_rng(stream_seed(self.seed, "lines", epoch)).permutation(len(self.plan))


def sort_lines(
    text: Mapping[str, Sequence[str]],
    tokenizers: Mapping[str, PreTrainedTokenizerFast],
    *,
    length: int,
    budget: int,
    seed: int,
    together: Literal["all", "one"] = "all",
) -> Lines:
    """Tokenize lines and group them by length.

    Args:
        text: language -> lines.
        tokenizers: language -> tokenizer, from `make_vocabularies`.
        length: maximum subwords per line, special tokens included; longer lines are truncated.
        budget: maximum subwords per batch.
        seed: random seed for the order of lines and batches.
        together: whether a batch has lines of ``all`` languages, or of ``one``.

    Raises:
        RequestError: if the lines of a language have nothing to predict.
    """
    by_length: dict[tuple[str, int], list[list[int]]] = {}
    for language, lines in text.items():
        first, last = (ids.tolist() for ids in special_tokens(tokenizers[language]))
        inner_length = length - len(first) - len(last)
        cut = [ids[:inner_length] for ids in encode_lines(lines, tokenizers[language]) if ids]
        _require_known(language, chain.from_iterable(cut), tokenizers[language])
        for ids in cut:
            framed = [*first, *ids, *last]
            by_length.setdefault((language if together == "one" else "", len(framed)), []).append(framed)
    sequences = tuple(np.asarray(by_length[group], np.int64) for group in sorted(by_length))
    plan = []
    for group, rows in enumerate(sequences):
        size = max(1, budget // rows.shape[1])
        plan += [(group, first, min(first + size, len(rows))) for first in range(0, len(rows), size)]
    return Lines(tuple(language or None for language, _ in sorted(by_length)), sequences, np.asarray(plan), seed)


def cut_streams(
    text: Mapping[str, Sequence[str]],
    tokenizers: Mapping[str, PreTrainedTokenizerFast],
    *,
    length: int,
    steps: int,
    exponent: float,
    seed: int,
) -> Streams:
    """Cut text into sequences, and sample a language for each step (Conneau, Wu et al. 2020, section 3).

    Args:
        length: subwords per sequence, special tokens included.
        exponent: languages are sampled in proportion to their number of sequences to this power.
        seed: random seed for language sampling and the order of sequences.

    Raises:
        RequestError: if a language has too little text for one sequence, or nothing to predict.
    """
    sequences = [cut_stream(language, lines, tokenizers[language], length=length) for language, lines in text.items()]
    weights = np.asarray([len(rows) for rows in sequences], float) ** exponent
    generator = np.random.default_rng(stream_seed(seed, "languages"))
    order = generator.choice(len(sequences), size=steps, p=weights / weights.sum())
    turn = np.zeros(steps, np.int64)
    for language in range(len(sequences)):
        language_steps = np.flatnonzero(order == language)
        turn[language_steps] = np.arange(len(language_steps))
    return Streams(tuple(text), tuple(sequences), order, turn, seed)


def cut_stream(
    language: str,
    lines: Sequence[str],
    tokenizer: PreTrainedTokenizerFast,
    *,
    length: int,
    setting: str = "shape.positions",
) -> np.ndarray:
    """Concatenate lines and cut them into ``(sequences, length)`` ids, special tokens included.

    Subwords that do not fill a last sequence are dropped.

    Args:
        language: name of the text in errors.
        length: subwords per sequence, special tokens included.
        setting: name of the setting of the length in errors; by default that of pretraining.

    Raises:
        RequestError: if there is too little text for one sequence, or nothing to predict.
    """
    first, last = (ids.tolist() for ids in special_tokens(tokenizer))
    inner_length = length - len(first) - len(last)
    ids = [i for line in encode_lines(lines, tokenizer) for i in (*line, *last)]
    count = len(ids) // inner_length
    if not count:
        raise RequestError(
            f"{language} has {len(ids)} subwords, too few for one sequence of {inner_length}",
            hint=f"give more text, or make the setting {setting} smaller (--set {setting}=NUMBER)",
        )
    cut = ids[: count * inner_length]
    _require_known(language, cut, tokenizer)
    text = np.asarray(cut, np.int64).reshape(count, inner_length)
    return np.hstack([np.tile(first, (count, 1)), text, np.tile(last, (count, 1))]).astype(np.int64)


def _require_known(language: str, ids: Iterable[int], tokenizer: PreTrainedTokenizerFast) -> None:
    """Check that not all subwords are special tokens, such as the one of unknown words, which are never predicted."""
    specials = set(tokenizer.all_special_ids)
    if all(subword in specials for subword in ids):
        raise RequestError(
            f"{language} has nothing to predict: the tokenizer knows none of its words",
            hint="crosslens transliterate writes it in a script that the tokenizer knows",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Masker:
    """Random masking of subwords, sparing special tokens.

    Attributes:
        mask: id of the mask token.
        specials: ids of special tokens, which are neither predicted nor inserted.
        ordinary: all other ids.
        fractions: of the subwords to predict, and of those that are masked or replaced.
    """

    mask: int
    specials: np.ndarray
    ordinary: np.ndarray
    fractions: Masking

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerFast, fractions: Masking) -> "Masker":
        """Create a masker for the vocabulary of a tokenizer."""
        specials = np.asarray(sorted(tokenizer.all_special_ids))
        ordinary = np.setdiff1d(np.arange(len(tokenizer)), specials)
        return cls(tokenizer.get_vocab()[str(tokenizer.mask_token)], specials, ordinary, fractions)

    def hide(self, ids: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Mask ids; return input ids and bool positions to predict (at least one), both of the shape of ``ids``."""
        masked, ordinary = self.fractions.masked, ~np.isin(ids, self.specials)
        predicted = (generator.random(ids.shape) < self.fractions.share) & ordinary
        if not predicted.any():
            predicted.flat[np.flatnonzero(ordinary)[:1]] = True
        draws = generator.random(ids.shape)
        random_ids = self.ordinary[generator.integers(len(self.ordinary), size=ids.shape)]
        masked_ids = np.where(predicted & (draws < masked), self.mask, ids)
        replaced = predicted & (draws >= masked) & (draws < masked + self.fractions.replaced)
        return np.where(replaced, random_ids, masked_ids), predicted


def next_subwords(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what a decoder predicts: each subword from those before it.

    Args:
        ids: ``(sequences, length)``.

    Returns:
        Three arrays of the shape of ``ids``: the next id at each position, the input ids, and bool positions to
        predict, which are all but the last of each sequence.
    """
    predicted = np.ones(ids.shape, bool)
    predicted[:, -1] = False
    return np.roll(ids, -1, axis=1), ids, predicted
