"""Scores that are known by their confidence intervals alone, without the counts per sentence behind them.

Results files keep the value and the interval of a score, but not its counts. Differences between such scores cannot be
paired by sentence: the variances over sentences of both scores are added. For two models tested on the same sentences
this is mostly more than the variance of the paired difference, so intervals are wider and tests are more cautious.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from crosslens.scores.intervals import LEVEL, Sample, crossed

SENTENCES = 100
"""Number of sentences assumed, because results files do not say; Student's t of more hardly differs."""


@dataclass(frozen=True, slots=True)
class Unpaired:
    """The score of one seed, or a difference between two.

    Attributes:
        value: score in points.
        variance: its variance over sentences.
    """

    value: float
    variance: float

    @classmethod
    def of_interval(cls, value: float, low: float, high: float) -> "Unpaired":
        """Take the variance from a 95 % confidence interval, as that of a normal distribution.

        >>> round(Unpaired.of_interval(70.0, 68.04, 71.96).variance, 3)
        1.0
        """
        standard_error = (high - low) / (2 * float(special.ndtri(1 - LEVEL / 2)))
        return cls(value, standard_error**2)

    def mean(self) -> float:
        """The value, as the mean of contributions per sentence is."""
        return self.value

    def __sub__(self, other: "Unpaired") -> "Unpaired":
        return Unpaired(self.value - other.value, self.variance + other.variance)


def sample_of(seeds: Sequence[Any]) -> Sample:
    """Summarise the scores, or differences, of several seeds on the same sentences.

    Args:
        seeds: for each seed either ``(sentences,)`` contributions in points (`crosslens.scores.intervals.linearised`),
            or an `Unpaired`. The seeds of the latter share their sentences, so the variance of the mean over seeds is
            at most the mean of the variances, which is returned.

    Raises:
        RequestError: for contributions of fewer than 2 sentences.
    """
    if not all(isinstance(seed, Unpaired) for seed in seeds):
        return crossed(np.stack(seeds))
    return Sample(
        np.array([seed.value for seed in seeds]), float(np.mean([seed.variance for seed in seeds])), SENTENCES
    )
