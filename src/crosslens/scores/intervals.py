"""Intervals and tests for scores that several seeds have on the same sentences.

A score varies because another seed gives another model, and because other sentences could have been drawn. For
``y[s, i] = m + a[s] + b[i] + e[s, i]`` with S seeds and I sentences, both at random, the mean has two variances:

    over seeds      A = var(mean of each seed) / S          with S - 1 degrees of freedom
    over sentences  B = var(mean of each sentence) / I      with I - 1 degrees of freedom

Its 95 % interval is ``mean ± sqrt(t(S-1)² A + t(I-1)² B)`` with the two-sided 5 % points of Student's t (Banerjee
1960, Sankhyā 22), and p is the level of the interval that ends at 0. Such an interval covers at least as much as it
says, with 2 seeds as with 20, and whatever the two variances are: given A and B the coverage is the distribution
function of chi-squared with one degree of freedom at a weighted mean; that function is concave, so the coverage is at
least the weighted mean of the coverages of two Student intervals, which are exact. Satterthwaite's degrees of freedom
promise less: with 2 seeds the interval covers 87 %, because a seed variance that is small by chance also looks certain.
Variances of several corpora are not pooled: some corpora vary more than others, and a study may have one.
The noise ``e`` is part of both A and B; that it counts twice is on the safe side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special, stats
from scipy.optimize import elementwise

from crosslens.errors import RequestError

LEVEL = 0.05
"""A difference is significant where q, its p-value corrected by `q_values`, is below."""


Over = Literal["seeds and sentences", "sentences"]
"""What an interval is over. Over sentences alone it says nothing of other seeds, and nothing is tested."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds, and how sure it is.

    Attributes:
        mean: in points.
        std: over seeds, with ddof 1; NaN for one seed.
        low: lower end of the 95 % interval, which is over sentences alone for one seed.
        high: upper end.
        p: of the mean being 0 (two-sided), which is what a difference is tested by; NaN for one seed.
        seeds: how many.
    """

    mean: float
    std: float
    low: float
    high: float
    p: float
    seeds: int

    @property
    def over(self) -> Over:
        """What the interval is over."""
        return "seeds and sentences" if self.seeds > 1 else "sentences"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What an interval needs to know of scores of seeds on the same sentences.

    Attributes:
        scores: ``(seeds,)`` in points.
        variance: B, of their mean over sentences.
        sentences: how many.
    """

    scores: np.ndarray
    variance: float
    sentences: int

    def estimate(self) -> Estimate:
        """Their mean with its interval and test."""
        mean, seeds = float(self.scores.mean()), len(self.scores)
        if seeds == 1:
            half = float(-special.stdtrit(self.sentences - 1, LEVEL / 2)) * self.variance**0.5
            return Estimate(mean, float("nan"), mean - half, mean + half, float("nan"), seeds)
        std = float(self.scores.std(ddof=1))
        parts = (std**2 / seeds, seeds, self.variance, self.sentences)
        half = float(half_width(*parts))
        return Estimate(mean, std, mean - half, mean + half, float(p_value(mean, *parts)), seeds)


def linearised(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Each sentence's share of a ratio of sums, so that its mean is the ratio and its variance the ratio's.

    Args:
        numerator: ``(seeds, sentences)`` counts.
        denominator: ``(seeds, sentences)`` counts, with a sum above 0 for each seed.

    Returns:
        ``(seeds, sentences)`` in points; the mean of a row is that seed's score.
    """
    total = denominator.sum(axis=1, keepdims=True).astype(np.float64)
    if not total.all():
        raise RequestError("a score of nothing has no interval")
    ratio = numerator.sum(axis=1, keepdims=True) / total
    share = (numerator - ratio * denominator) / (total / denominator.shape[1])
    return 100.0 * (ratio + share)


def crossed(values: np.ndarray) -> Sample:
    """Values of seeds on sentences as what their interval needs.

    Args:
        values: ``(seeds, sentences)``, from `linearised`, or the difference of two such.

    Raises:
        RequestError: with fewer than 2 sentences.
    """
    sentences = values.shape[1]
    if sentences < 2:
        raise RequestError(f"an interval over sentences needs 2 of them, and there is {sentences}")
    return Sample(values.mean(axis=1), float(values.mean(axis=0).var(ddof=1)) / sentences, sentences)


def mean_sample(samples: Sequence[Sample]) -> Sample:
    """The mean over corpora, seed by seed.

    Test sets may be translations of one another, so their sentences are taken to vary together: the standard error over
    sentences is the mean of theirs, which is the largest that it can be.

    Args:
        samples: one a corpus, of the same seeds.
    """
    if len(samples) == 1:
        return samples[0]
    return Sample(
        np.mean([sample.scores for sample in samples], axis=0),
        float(np.mean([sample.variance**0.5 for sample in samples])) ** 2,
        min(sample.sentences for sample in samples),
    )


def half_width(
    over_seeds: np.ndarray | float,
    seeds: int,
    over_sentences: np.ndarray | float = 0.0,
    sentences: int = 2,
    *,
    level: np.ndarray | float = LEVEL,
) -> np.ndarray:
    """Half the width of the confidence interval of each mean.

    >>> round(float(half_width(1.0, 2)), 3)
    12.706

    Args:
        over_seeds: A, the variance of the mean over seeds, of which there are 2 or more.
        seeds: S.
        over_sentences: B, its variance over sentences; without it the interval is over seeds alone.
        sentences: I.
        level: of the test whose interval it is: 0.05 for 95 %.
    """
    by_seeds, by_sentences = (special.stdtrit(number - 1, np.asarray(level) / 2) for number in (seeds, sentences))
    return np.hypot(by_seeds * np.sqrt(over_seeds), by_sentences * np.sqrt(over_sentences))


def p_value(
    mean: np.ndarray | float,
    over_seeds: np.ndarray | float,
    seeds: int,
    over_sentences: np.ndarray | float,
    sentences: int,
) -> np.ndarray:
    """The level at which the interval of each mean ends at 0.

    Args:
        mean: in points.
        over_seeds: as of `half_width`.
        seeds: as of `half_width`.
        over_sentences: as of `half_width`.
        sentences: as of `half_width`.

    Returns:
        Two-sided p-values: 1 where the mean is 0, and 0 where it is not and nothing varies.
    """
    size, over_seeds, over_sentences = np.broadcast_arrays(np.abs(mean), over_seeds, over_sentences)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(size > 0, size / np.sqrt(over_seeds + over_sentences), 0.0)
    # With the degrees of freedom of one part for both, p would be Student's: it is between the two.
    ends = [np.log(np.maximum(2 * special.stdtr(n - 1, -statistic), _SMALLEST)) for n in (seeds, sentences)]
    inside = (statistic > 0) & (half_width(over_seeds, seeds, over_sentences, sentences, level=_SMALLEST) > size)
    p = np.where(statistic > 0, np.where(np.isinf(statistic), 0.0, _SMALLEST), 1.0)

    def excess(log_p: np.ndarray, size: np.ndarray, over_seeds: np.ndarray, over_sentences: np.ndarray) -> np.ndarray:
        return half_width(over_seeds, seeds, over_sentences, sentences, level=np.exp(log_p)) - size

    low, high = np.minimum(*ends)[inside] - _PRECISION, np.minimum(np.maximum(*ends)[inside] + _PRECISION, 0.0)
    root = elementwise.find_root(
        excess,
        (low, high),
        args=tuple(part[inside] for part in (size, over_seeds, over_sentences)),
        tolerances={"xatol": _PRECISION},
    )
    p[inside] = np.exp(root.x)
    return p


_SMALLEST = 1e-150
"""The least p-value that is computed: quantiles of Student's t are exact down to it."""

_PRECISION = 1e-9
"""Relative, of a p-value."""


def q_values(p: np.ndarray) -> np.ndarray:
    """Correct p-values for multiple testing (Benjamini & Hochberg 1995).

    Among differences with q < 0.05, at most 5 % are expected to be false discoveries.

    >>> q_values(np.array([0.01, 0.04, np.nan])).tolist()
    [0.02, 0.04, nan]

    Args:
        p: p-values of one family of tests; NaN where there is no test.

    Returns:
        Corrected p-values of the same shape; NaN where there is no test.
    """
    corrected = np.full(len(p), np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        corrected[tested] = stats.false_discovery_control(p[tested])
    return corrected
