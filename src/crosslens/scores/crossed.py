"""Intervals and tests for scores that several seeds have on the same sentences.

A score varies because another seed gives another model, and because other sentences could have been drawn. With
``y[s, i] = m + a[s] + b[i] + e[s, i]`` for seed s and sentence i, both at random, the mean's variance is estimated as

    var(mean of each seed) / S  +  var(mean of each sentence) / I  -  var(what is left) / (S I)

(two-way crossed effects; Cameron, Gelbach & Miller 2011), and Student's t gets Satterthwaite's degrees of freedom, few
where the seeds differ most. Resampling five seeds instead covers too little: five values have a bootstrap variance a
fifth too small, and no heavy tails.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from crosslens.errors import RequestError


@dataclass(frozen=True, slots=True)
class Crossed:
    """A mean over seeds, and how sure it is.

    Attributes:
        mean: in points.
        std: over seeds, with ddof 1; NaN for one seed.
        low: lower end of the 95 % interval.
        high: upper end.
        p: of the mean being 0 (two-sided): what a difference is tested by.
        seeds: how many.
        freedom: degrees of freedom of t.
    """

    mean: float
    std: float
    low: float
    high: float
    p: float
    seeds: int
    freedom: float


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


def crossed(values: np.ndarray, *, level: float = 0.95) -> Crossed:
    """The mean of values of seeds on sentences, with its interval over both.

    With one seed the interval is over sentences alone. In simulations it covers 94 to 96 % with five seeds; with three
    that differ as much as the sentences do, 92.6 %.

    Args:
        values: ``(seeds, sentences)``, from `linearised`, or the difference of two such.
        level: the share that the interval covers.

    Raises:
        RequestError: with fewer than 2 sentences.
    """
    seeds, sentences = values.shape
    if sentences < 2:
        raise RequestError(f"an interval over sentences needs 2 of them, and there is {sentences}")
    mean = float(values.mean())
    by_seed, by_sentence = values.mean(axis=1), values.mean(axis=0)
    over_sentences = float(by_sentence.var(ddof=1)) / sentences
    if seeds == 1:
        variance, freedom, std = over_sentences, float(sentences - 1), float("nan")
    else:
        std = float(by_seed.std(ddof=1))
        over_seeds = std**2 / seeds
        left = values - by_seed[:, None] - by_sentence[None, :] + mean
        residual = float((left**2).sum()) / ((seeds - 1) * (sentences - 1)) / (seeds * sentences)
        variance = max(over_seeds + over_sentences - residual, over_seeds, over_sentences)
        parts = over_seeds**2 / (seeds - 1) + over_sentences**2 / (sentences - 1)
        freedom = (over_seeds + over_sentences) ** 2 / parts if parts else float(seeds - 1)
    error = variance**0.5
    half = float(stats.t.ppf((1 + level) / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, freedom)) if error else float(mean == 0.0)
    return Crossed(mean, std, mean - half, mean + half, p, seeds, freedom)
