"""A score kept as its per-sentence counts, so that its value, its interval and every test come from the same arrays.

Every metric here is a ratio of sums: accuracy and attachment scores are right over all words, and an F1 is twice the
true positives over predicted plus gold spans.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from crosslens import __version__
from crosslens.digests import stream_seed


@dataclass(frozen=True, eq=False)
class Score:
    """``100 * sum(numerator) / sum(denominator)``.

    Attributes:
        metric: ``accuracy``, ``las``, ``f1``, …
        numerator: int64, one a sentence.
        denominator: int64, one a sentence.
        rule: what was counted and how, as the signature says it.
        data: digest of the gold data.
        notes: counts worth telling, such as gold labels that training never saw.
    """

    metric: str
    numerator: np.ndarray
    denominator: np.ndarray
    rule: str
    data: str
    notes: dict[str, int] = field(default_factory=dict)

    @property
    def value(self) -> float | None:
        """The score in points, 0 to 100; None when there is nothing to score."""
        total = int(self.denominator.sum())
        return 100.0 * int(self.numerator.sum()) / total if total else None

    @property
    def n(self) -> int:
        """How many units (words, spans) were counted."""
        return int(self.denominator.sum())

    @property
    def signature(self) -> str:
        """What someone must know to get the same number: metric, rule, data, version."""
        return f"{self.metric}|{self.rule}|data:{self.data[:12]}|crosslens:{__version__}"

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % percentile bootstrap interval over sentences, in points; None when there is nothing to score."""
        return bootstrap_interval(self.numerator, self.denominator)


def bootstrap_interval(
    numerator: np.ndarray, denominator: np.ndarray, *, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of a ratio of sums (Efron 1979), sentences being the unit drawn.

    Args:
        numerator: ``(sentences,)`` counts.
        denominator: ``(sentences,)`` counts.
        resamples: how many samples with replacement.
        level: the share that the interval covers.
        seed: of the resampling; the same counts always have the same interval.

    Returns:
        Its two ends in points, or None when every count is zero.
    """
    if not denominator.sum():
        return None
    weights = _weights(len(denominator), resamples, seed)
    totals = weights @ denominator
    drawn = totals > 0
    ratios = 100.0 * (weights @ numerator)[drawn] / totals[drawn]
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@lru_cache(maxsize=2)  # every metric of a corpus asks for the same, and many corpora are of one size
def _weights(sentences: int, resamples: int, seed: int) -> np.ndarray:
    """``(resamples, sentences)``: how often each sentence is drawn, so that all samples are one matrix product."""
    generator = np.random.default_rng(stream_seed(seed, "bootstrap"))
    weights = generator.multinomial(sentences, np.full(sentences, 1 / sentences), size=resamples)
    weights.flags.writeable = False
    return weights
