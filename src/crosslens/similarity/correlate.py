"""How the transfer gap and similarity go together over languages (Muller et al. 2021, section 4.3, Table 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from crosslens.errors import RequestError
from crosslens.identity import stream_seed

Coefficient = Literal["spearman", "pearson", "kendall"]

FEW = 8
"""With fewer languages an interval says little: 5 of 6 random orders of 3 languages look strong."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A coefficient over languages.

    Attributes:
        coefficient: which.
        value: -1 to 1; NaN where one side is constant.
        low: lower end of its 95 % interval, by bootstrap over languages; NaN where there is none.
        high: upper end.
        p: share of the permutations of the languages that are at least as far from 0; exact for few languages.
        languages: those that both sides have, sorted.
    """

    coefficient: Coefficient
    value: float
    low: float
    high: float
    p: float
    languages: tuple[str, ...]

    @property
    def warning(self) -> str | None:
        """What a reader must know; None: nothing."""
        n = len(self.languages)
        return f"{n} languages are too few to say anything" if n < FEW else None


def correlate(
    gap: Mapping[str, float],
    similarity: Mapping[str, float],
    *,
    coefficient: Coefficient = "spearman",
    resamples: int = 2000,
    seed: int = 0,
) -> Correlation:
    """The correlation of the transfer gap with similarity.

    The gap is the same-language score minus the cross-language score, so a similarity that goes with good transfer
    correlates *negatively* with it. Languages that only one side has are left out.

    Args:
        gap: target language -> gap, in points.
        similarity: target language -> similarity with the source.
        coefficient: rank correlation unless said otherwise.
        resamples: of the bootstrap, and permutations where there are too many to try all.
        seed: of both.

    Raises:
        RequestError: with fewer than 3 languages.
    """
    languages = tuple(sorted(set(gap) & set(similarity)))
    if len(languages) < 3:
        raise RequestError(f"a correlation over languages needs 3 of them, and there are {len(languages)}")
    x = np.asarray([gap[language] for language in languages], np.float64)
    y = np.asarray([similarity[language] for language in languages], np.float64)
    its = _unit(y, coefficient)
    found = float(np.clip((_unit(x, coefficient) * its).sum(), -1, 1))  # rounding may lead beyond
    if found != found:
        return Correlation(coefficient, found, found, found, found, languages)
    generator = np.random.default_rng(stream_seed(seed, "correlate", coefficient))
    draws = generator.integers(len(languages), size=(resamples, len(languages)))
    drawn = (_unit(x[draws], coefficient) * _unit(y[draws], coefficient)).sum(-1)
    low, high = np.clip(np.nanquantile(drawn, [0.025, 0.975]), -1, 1)

    def statistic(permuted: np.ndarray, axis: int) -> np.ndarray:
        return (_unit(np.moveaxis(permuted, axis, -1), coefficient) * its).sum(-1)

    test = stats.permutation_test(
        (x,), statistic, permutation_type="pairings", vectorized=True, n_resamples=resamples, rng=generator
    )
    return Correlation(coefficient, found, float(low), float(high), float(test.pvalue), languages)


def _unit(values: np.ndarray, coefficient: Coefficient) -> np.ndarray:
    """What the coefficient correlates, as a vector of length 1: the coefficient is the product of two such.

    Args:
        values: ``(…, languages)``.
        coefficient: the values themselves, their ranks, or the signs of all differences (Kendall's tau-b).

    Returns:
        ``(…, m)``; NaN where all values are equal.
    """
    if coefficient == "kendall":
        first, second = np.triu_indices(values.shape[-1], 1)
        vectors = np.sign(values[..., first] - values[..., second])
    else:
        vectors = stats.rankdata(values, axis=-1) if coefficient == "spearman" else values
        vectors = vectors - vectors.mean(axis=-1, keepdims=True)
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.full_like(vectors, np.nan), where=length > 1e-12)
