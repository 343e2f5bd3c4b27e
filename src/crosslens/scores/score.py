"""Scores stored as counts per sentence, from which their values, confidence intervals and tests are computed.

Every metric is a ratio of sums: accuracy and attachment scores are correct words over all words, and F1 is twice the
true positives over predicted plus gold spans.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from crosslens import __version__
from crosslens.digests import stream_seed


@dataclass(frozen=True, eq=False)
class Score:
    """A score: ``100 * sum(numerator) / sum(denominator)``.

    Attributes:
        metric: ``accuracy``, ``las``, ``f1``, …
        numerator: counts, ``(sentences,)`` int64.
        denominator: counts, ``(sentences,)`` int64.
        rule: counting rule, as in the signature.
        data: digest of the gold data.
        notes: further counts, such as gold labels not seen in training.
    """

    metric: str
    numerator: np.ndarray
    denominator: np.ndarray
    rule: str
    data: str
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def value(self) -> float | None:
        """Score in points, 0 to 100; None if nothing was counted."""
        total = int(self.denominator.sum())
        return 100.0 * int(self.numerator.sum()) / total if total else None

    @property
    def n(self) -> int:
        """Sum of the denominator, such as the number of words."""
        return int(self.denominator.sum())

    @property
    def signature(self) -> str:
        """Metric, rule, data and version, as needed to reproduce the score."""
        return f"{self.metric}|{self.rule}|data:{self.data[:12]}|crosslens:{__version__}"

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """95 % percentile bootstrap interval over sentences, in points; None for fewer than two sentences."""
        return bootstrap_interval(self.numerator, self.denominator)

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of `crosslens.results.record.Record` that hold the score."""
        low, high = self.interval or (None, None)
        numbers = {"value": self.value, "low": low, "high": high, "n": self.n}
        return {"metric": self.metric, **numbers, "signature": self.signature}


def bootstrap_interval(
    numerator: np.ndarray, denominator: np.ndarray, *, resamples: int = 1000
) -> tuple[float, float] | None:
    """Compute the 95 % percentile bootstrap interval of a ratio of sums over resampled sentences (Efron 1979).

    >>> bootstrap_interval(np.array([3, 3]), np.array([4, 4]))
    (75.0, 75.0)

    Args:
        numerator: counts, ``(sentences,)``.
        denominator: counts, ``(sentences,)``.
        resamples: number of samples with replacement.

    Returns:
        Both ends in points, or None if fewer than two sentences count: one says nothing about the spread.
    """
    if np.count_nonzero(denominator) < 2:
        return None
    weights = _weights(len(denominator), resamples)
    totals = _sums(weights, denominator)
    defined = totals > 0
    ratios = 100.0 * _sums(weights, numerator)[defined] / totals[defined]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


@lru_cache(maxsize=2)  # shared by all metrics of a corpus, and by corpora of the same size
def _weights(sentences: int, resamples: int) -> np.ndarray:
    """How often each sentence is drawn, ``(resamples, sentences)``, so that one matrix product computes all samples."""
    generator = np.random.default_rng(stream_seed(0, "bootstrap"))
    weights = np.empty((resamples, sentences), np.uint8)  # more draws of one sentence are as good as impossible
    for some in _parts(weights):
        some[:] = generator.multinomial(sentences, np.full(sentences, 1 / sentences), size=len(some))
    weights.flags.writeable = False
    return weights


def _sums(weights: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.concatenate([some.astype(np.int64) @ counts for some in _parts(weights)])


def _parts(weights: np.ndarray) -> list[np.ndarray]:
    """The rows in parts of at most 32 MiB as 64-bit numbers, or of one row."""
    rows = max(1, 2**22 // weights.shape[1])
    return [weights[first : first + rows] for first in range(0, len(weights), rows)]
