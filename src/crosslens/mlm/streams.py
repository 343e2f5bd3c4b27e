"""Raw text as a masked language model reads it: as streams or line by line, and what is hidden in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from transformers import PreTrainedTokenizerFast

from crosslens.data.subwords import special_tokens
from crosslens.digests import stream_seed
from crosslens.errors import RequestError
from crosslens.mlm.vocabulary import encode_lines


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """Each language's text as one stream, cut into sequences; a step reads one language.

    Attributes:
        languages: in order.
        sequences: for each language ``(sequences, length)`` ids, special tokens included.
        order: ``(steps,)``: the language of each step.
        turn: ``(steps,)``: how many steps that language has had before.
        seed: of the order and the rounds.
    """

    languages: tuple[str, ...]
    sequences: tuple[np.ndarray, ...]
    order: np.ndarray
    turn: np.ndarray
    seed: int

    def batch(self, step: int, *, size: int) -> np.ndarray:
        """The ids of a step, ``(size, length)``: a language's sequences in shuffled rounds, none twice in a round."""
        language = int(self.order[step])
        rows = self.sequences[language]
        first = int(self.turn[step]) * size
        rounds = range(first // len(rows), (first + size - 1) // len(rows) + 1)
        seeds = [stream_seed(self.seed, "sequences", self.languages[language], r) for r in rounds]
        shuffled = np.concatenate([np.random.default_rng(seed).permutation(len(rows)) for seed in seeds])
        start = first - rounds[0] * len(rows)
        return rows[shuffled[start : start + size]]

    def language(self, step: int) -> str:
        """Which language a step reads."""
        return self.languages[int(self.order[step])]

    def subwords(self, steps: int, *, size: int) -> int:
        """How many are read in the first so many steps, special tokens included."""
        return steps * size * self.sequences[0].shape[1]


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines of all languages; a step reads lines of one length, so there is no padding either.

    Attributes:
        languages: of each of ``sequences``; None where it has lines of all.
        sequences: for each length that occurs ``(lines, length)`` ids, special tokens included.
        plan: ``(batches, 3)``: of each batch of an epoch which sequences, its first line, and one past its last.
        seed: of the order.
    """

    languages: tuple[str | None, ...]
    sequences: tuple[np.ndarray, ...]
    plan: np.ndarray
    seed: int

    def batch(self, step: int, *, size: int) -> np.ndarray:
        """The ids of a step, ``(lines, length)``; every line once an epoch, lines and batches in shuffled order."""
        epoch, place = divmod(step, len(self.plan))
        which, first, last = self.plan[self._order(epoch)[place]]
        rows = self.sequences[which]
        shuffled = np.random.default_rng(stream_seed(self.seed, "lines", epoch, int(which))).permutation(len(rows))
        return rows[shuffled[first:last]]

    def language(self, step: int) -> str | None:
        """Which language a step reads; None: perhaps all of them."""
        epoch, place = divmod(step, len(self.plan))
        return self.languages[self.plan[self._order(epoch)[place]][0]]

    def subwords(self, steps: int, *, size: int) -> int:
        """How many are read in the first so many steps, special tokens included."""
        each = np.asarray([(last - first) * self.sequences[which].shape[1] for which, first, last in self.plan])
        epochs, rest = divmod(steps, len(self.plan))
        return int(epochs * each.sum() + each[self._order(epochs)[:rest]].sum())

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
    """Sort all languages' lines by their length.

    Args:
        text: language -> lines.
        tokenizers: language -> its tokenizer, from `make_vocabularies`.
        together: whether a step reads lines of ``all`` languages, or of ``one``.
        length: subwords a line has at most, special tokens included; what is behind them is cut.
        budget: subwords a step, at most.
        seed: of the order.

    Raises:
        RequestError: when no line has a subword.
    """
    by_length: dict[tuple[str, int], list[list[int]]] = {}
    for language, lines in text.items():
        first, last = (ids.tolist() for ids in special_tokens(tokenizers[language]))
        for ids in encode_lines(lines, tokenizers[language]):
            if ids:
                framed = [*first, *ids[: length - len(first) - len(last)], *last]
                by_length.setdefault((language if together == "one" else "", len(framed)), []).append(framed)
    if not by_length:
        raise RequestError("no line of the text has a subword")
    sequences = tuple(np.asarray(by_length[group], np.int64) for group in sorted(by_length))
    plan = []
    for which, rows in enumerate(sequences):
        size = max(1, budget // rows.shape[1])
        plan += [(which, first, min(first + size, len(rows))) for first in range(0, len(rows), size)]
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
    """Cut texts, and draw the order of languages (Conneau, Wu et al. 2020, section 3).

    Args:
        text: language -> lines.
        tokenizers: language -> its tokenizer, from `make_vocabularies`.
        length: subwords a sequence, special tokens included.
        steps: how many there will be.
        exponent: a language is drawn with its number of sequences to this power.
        seed: of the drawing.

    Raises:
        RequestError: for a language with too little text for one sequence.
    """
    sequences = [cut_stream(language, lines, tokenizers[language], length=length) for language, lines in text.items()]
    weights = np.asarray([len(rows) for rows in sequences], float) ** exponent
    generator = np.random.default_rng(stream_seed(seed, "languages"))
    order = generator.choice(len(sequences), size=steps, p=weights / weights.sum())
    turn = np.zeros(steps, np.int64)
    for language in range(len(sequences)):
        its_steps = np.flatnonzero(order == language)
        turn[its_steps] = np.arange(len(its_steps))
    return Streams(tuple(text), tuple(sequences), order, turn, seed)


def cut_stream(language: str, lines: Sequence[str], tokenizer: PreTrainedTokenizerFast, *, length: int) -> np.ndarray:
    """One language's text as ``(sequences, length)`` ids, special tokens included; what is left over is not read.

    Raises:
        RequestError: for too little text for one sequence.
    """
    first, last = (ids.tolist() for ids in special_tokens(tokenizer))
    inside = length - len(first) - len(last)
    ids = [i for line in encode_lines(lines, tokenizer) for i in (*line, *last)]
    whole = len(ids) // inside
    if not whole:
        raise RequestError(f"{language} has {len(ids)} subwords, too few for one sequence of {inside}")
    text = np.asarray(ids[: whole * inside], np.int64).reshape(whole, inside)
    return np.hstack([np.tile(first, (whole, 1)), text, np.tile(last, (whole, 1))]).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Masker:
    """Hides subwords (Devlin et al. 2019). Special tokens are never hidden, and never shown in the place of another.

    Attributes:
        mask: the id of the mask.
        specials: ids that are never touched.
        ordinary: all others.
        share: of the subwords, to be predicted.
        masked: of those, shown as the mask.
        replaced: of those, shown as a random subword; the rest is shown as it is.
    """

    mask: int
    specials: np.ndarray
    ordinary: np.ndarray
    share: float
    masked: float
    replaced: float

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerFast, *, share: float, masked: float, replaced: float) -> "Masker":
        """For the vocabulary of a tokenizer from `vocabulary`."""
        specials = np.asarray(sorted(tokenizer.all_special_ids))
        ordinary = np.setdiff1d(np.arange(len(tokenizer)), specials)
        return cls(tokenizer.get_vocab()[str(tokenizer.mask_token)], specials, ordinary, share, masked, replaced)

    def hide(self, ids: np.ndarray, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """What is shown, and which places are to be predicted, both of ``ids``' shape; at least one is."""
        may = ~np.isin(ids, self.specials)
        chosen = (generator.random(ids.shape) < self.share) & may
        if not chosen.any():
            chosen.flat[np.flatnonzero(may)[:1]] = True
        fate = generator.random(ids.shape)
        random_ids = self.ordinary[generator.integers(len(self.ordinary), size=ids.shape)]
        shown = np.where(chosen & (fate < self.masked), self.mask, ids)
        replaced = chosen & (fate >= self.masked) & (fate < self.masked + self.replaced)
        return np.where(replaced, random_ids, shown), chosen
