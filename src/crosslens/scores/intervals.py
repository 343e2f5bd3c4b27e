"""Confidence intervals and tests for scores of several seeds on the same sentences.

A score varies with the seed and with the sample of test sentences. For
``y[s, i] = m + a[s] + b[i] + e[s, i]`` with S random seeds and I random sentences, the mean has two variances:

    over seeds      A = var(mean of each seed) / S          with S - 1 degrees of freedom
    over sentences  B = var(mean of each sentence) / I      with I - 1 degrees of freedom

The 95 % interval is ``mean ± sqrt(t(S-1)² A + t(I-1)² B)`` with the two-sided 5 % points of Student's t (Banerjee
1960, Sankhyā 22), and p is the level of the interval that ends at 0. Its coverage is at least nominal for any number of
seeds and any variances: given A and B, the coverage is the distribution function of chi-squared with one degree of
freedom at a weighted mean; that function is concave, so the coverage is at least the weighted mean of the coverages of
two Student intervals, which are exact. Satterthwaite's degrees of freedom do not ensure this: with 2 seeds the interval
covers 87 %, because a seed variance that is small by chance also looks certain.
Variances are not pooled over corpora, because some corpora vary more than others and a study may have only one.
The noise ``e`` contributes to both A and B, which makes the interval conservative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special, stats
from scipy.optimize import elementwise

from crosslens.errors import RequestError

LEVEL = 0.05
"""Significance level: a difference is significant if its corrected p-value (`q_values`) is below."""


Over = Literal["seeds and sentences", "sentences"]
"""Source of variation of an interval. An interval over sentences does not generalise to other seeds and has no test."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over seeds with its 95 % confidence interval and p-value.

    Attributes:
        mean: mean in points.
        std: standard deviation over seeds (ddof 1); NaN for one seed.
        low: lower end of the interval, which is over sentences alone for one seed.
        high: upper end.
        p: two-sided p-value of the mean being 0, to test differences; NaN for one seed.
        seeds: number of seeds.
    """

    mean: float
    std: float
    low: float
    high: float
    p: float
    seeds: int

    @property
    def over(self) -> Over:
        """Source of variation of the interval."""
        return "seeds and sentences" if self.seeds > 1 else "sentences"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Statistics of scores of several seeds on the same sentences, as needed for an interval.

    Attributes:
        scores: score of each seed in points, ``(seeds,)``.
        variance: B, the variance of their mean over sentences.
        sentences: number of sentences.
    """

    scores: np.ndarray
    variance: float
    sentences: int

    def estimate(self) -> Estimate:
        """Estimate the mean, its confidence interval and its p-value."""
        return estimates([self])[0]


def estimates(samples: Sequence[Sample]) -> list[Estimate]:
    """Estimate the mean, the confidence interval and the p-value of each sample; much faster than one by one.

    >>> [round(each.mean, 1) for each in estimates([Sample(np.array([1.0, 2.0]), 0.1, 50)] * 2)]
    [1.5, 1.5]
    """
    seeds = np.array([len(sample.scores) for sample in samples], np.int64)
    means = np.array([sample.scores.mean() for sample in samples], np.float64)
    several = seeds > 1
    std = np.full(len(samples), np.nan)
    std[several] = [sample.scores.std(ddof=1) for sample in samples if len(sample.scores) > 1]
    # One seed has an interval over sentences alone, and no test.
    over_seeds = np.where(several, std**2 / seeds, 0.0)
    over_sentences = np.array([sample.variance for sample in samples], np.float64)
    sentences = np.array([sample.sentences for sample in samples], np.int64)
    parts = over_seeds, np.maximum(seeds, 2), over_sentences, sentences
    half = half_width(*parts)
    p = np.where(several, p_value(means, *parts), np.nan)
    columns = (means, std, means - half, means + half, p, seeds)
    return [Estimate(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]


def linearised(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Linearise a ratio of sums into one value per sentence with the mean and the variance of the ratio.

    >>> round(float(linearised(np.array([[1, 3]]), np.array([[2, 4]])).mean()), 2)
    66.67

    Args:
        numerator: counts, ``(seeds, sentences)``.
        denominator: counts, ``(seeds, sentences)``, with a sum above 0 for each seed.

    Returns:
        Values in points, ``(seeds, sentences)``; the mean of a row is the score of that seed.
    """
    total = denominator.sum(axis=1, keepdims=True).astype(np.float64)
    if not total.all():
        raise RequestError("a score of nothing has no interval")
    ratio = numerator.sum(axis=1, keepdims=True) / total
    share = (numerator - ratio * denominator) / (total / denominator.shape[1])
    return 100.0 * (ratio + share)


def crossed(values: np.ndarray) -> Sample:
    """Summarise the values of several seeds on the same sentences.

    Args:
        values: ``(seeds, sentences)``, from `linearised` or the difference of two such arrays.

    Raises:
        RequestError: for fewer than 2 sentences.
    """
    sentences = values.shape[1]
    if sentences < 2:
        raise RequestError(f"an interval over sentences needs 2 of them, and there is {sentences}")
    return Sample(values.mean(axis=1), float(values.mean(axis=0).var(ddof=1)) / sentences, sentences)


def mean_sample(samples: Sequence[Sample]) -> Sample:
    """Average over corpora, seed by seed.

    Test sets may be translations of one another, so sentence errors are assumed to be perfectly correlated: the
    standard error over sentences is the mean of the standard errors, its upper bound.

    Args:
        samples: one per corpus, of the same seeds.
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
    seeds: np.ndarray | int,
    over_sentences: np.ndarray | float = 0.0,
    sentences: np.ndarray | int = 2,
    *,
    level: np.ndarray | float = LEVEL,
) -> np.ndarray:
    """Compute half the width of the confidence interval of each mean.

    >>> round(float(half_width(1.0, 2)), 3)
    12.706

    Args:
        over_seeds: A, the variance of the mean over seeds.
        seeds: S, the number of seeds, at least 2.
        over_sentences: B, the variance of the mean over sentences; if 0, the interval is over seeds alone.
        sentences: I, the number of sentences.
        level: level of the corresponding test: 0.05 for a 95 % interval.
    """
    seed_quantile, sentence_quantile = (
        special.stdtrit(np.asarray(n) - 1, np.asarray(level) / 2) for n in (seeds, sentences)
    )
    return np.hypot(seed_quantile * np.sqrt(over_seeds), sentence_quantile * np.sqrt(over_sentences))


def p_value(
    mean: np.ndarray | float,
    over_seeds: np.ndarray | float,
    seeds: np.ndarray | int,
    over_sentences: np.ndarray | float,
    sentences: np.ndarray | int,
) -> np.ndarray:
    """Compute the p-value of each mean: the level at which its interval (see `half_width`) ends at 0.

    Returns:
        Two-sided p-values: 1 if the mean is 0, and 0 if it is not and both variances are 0.
    """
    size, *parts = np.broadcast_arrays(np.abs(mean), over_seeds, seeds, over_sentences, sentences)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = size / np.sqrt(parts[0] + parts[2])  # NaN for 0/0, which is not above 0
    # With equal degrees of freedom for both variances, p would be that of Student's t, so p lies between the two.
    bounds = [np.log(np.maximum(2 * special.stdtr(n - 1, -statistic), _SMALLEST)) for n in (parts[1], parts[3])]
    inside = (statistic > 0) & (half_width(*parts, level=_SMALLEST) > size)
    p = np.where(statistic > 0, np.where(np.isinf(statistic), 0.0, _SMALLEST), 1.0)

    def excess(log_p: np.ndarray, size: np.ndarray, *parts: np.ndarray) -> np.ndarray:
        return half_width(*parts, level=np.exp(log_p)) - size

    low, high = np.minimum(*bounds)[inside] - _PRECISION, np.minimum(np.maximum(*bounds)[inside] + _PRECISION, 0.0)
    root = elementwise.find_root(
        excess, (low, high), args=tuple(array[inside] for array in (size, *parts)), tolerances={"xatol": _PRECISION}
    )
    p[inside] = np.exp(root.x)
    return p


_SMALLEST = 1e-150
"""Smallest p-value computed; quantiles of Student's t are exact down to it."""

_PRECISION = 1e-9
"""Relative precision of p-values."""


def q_values(p: np.ndarray) -> np.ndarray:
    """Correct p-values for multiple testing (Benjamini & Hochberg 1995).

    Among differences with q < 0.05, at most 5 % are expected to be false discoveries.

    >>> q_values(np.array([0.01, 0.04, np.nan])).tolist()
    [0.02, 0.04, nan]

    Args:
        p: p-values of one family of tests; NaN for no test.

    Returns:
        Corrected p-values, in the same order; NaN for no test.
    """
    corrected = np.full(len(p), np.nan)
    tested = ~np.isnan(p)
    if tested.any():
        corrected[tested] = stats.false_discovery_control(p[tested])
    return corrected
