"""How the transfer gap and similarity go together over languages (Muller et al. 2021, section 4.3, Table 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from crosslens.digests import stream_seed
from crosslens.errors import RequestError

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
        p: twice the share of the permutations of the languages whose coefficient is at least as high, or at least as
            low, whichever are fewer; at most 1, and exact for few languages.
        languages: those that both sides have, sorted.
        control: what was controlled for.
    """

    coefficient: Coefficient
    value: float
    low: float
    high: float
    p: float
    languages: tuple[str, ...]
    control: tuple[str, ...] = ()

    @property
    def warning(self) -> str | None:
        """What a reader must know; None: nothing."""
        n = len(self.languages)
        return f"{n} languages are too few to say anything" if n < FEW else None


def correlate(
    gap: Mapping[str, float],
    similarity: Mapping[str, float],
    *,
    control: Mapping[str, Mapping[str, float]] | None = None,
    coefficient: Coefficient = "spearman",
    resamples: int = 2000,
    seed: int = 0,
) -> Correlation:
    """The correlation of the transfer gap with similarity.

    The gap is the same-language score minus the cross-language score, so a similarity that goes with good transfer
    correlates *negatively* with it. Languages that not all sides have are left out.

    With something controlled for it is the partial correlation: that of what is left of both sides when the controlled
    quantities (their ranks, for Spearman's) have explained what they can. Its permutations mix what is left of the gap.

    Args:
        gap: target language -> gap, in points.
        similarity: target language -> similarity with the source.
        control: name -> target language -> a quantity that both may hang on, such as fertility.
        coefficient: rank correlation unless said otherwise.
        resamples: of the bootstrap, and permutations where there are too many to try all.
        seed: of both.

    Returns:
        The coefficient, its interval and p-value, and the languages it is computed over.

    Raises:
        RequestError: with fewer than 3 languages beyond what is controlled for; for Kendall's coefficient with
            something controlled for, which is not defined by what is left.

    Example:
        >>> gap = {"fr": 2.0, "de": 5.0, "ru": 11.0, "fi": 12.0, "ar": 20.0, "hi": 24.0}
        >>> similarity = {"fr": 0.9, "de": 0.8, "ru": 0.6, "fi": 0.5, "ar": 0.3, "hi": 0.4}
        >>> round(xl.correlate(gap, similarity).value, 2)
        -0.94
    """
    control = control or {}
    if control and coefficient == "kendall":
        raise RequestError(
            "partial correlation is not supported for Kendall's coefficient", hint="use spearman or pearson"
        )
    sides = [gap, similarity, *control.values()]
    languages = tuple(sorted(set.intersection(*(set(side) for side in sides))))
    if len(languages) < 3 + len(control):
        beyond = f", and one more for each of {', '.join(control)}" if control else ""
        raise RequestError(f"a correlation needs at least 3 languages{beyond}, but there are {len(languages)}")
    x, y, *others = (np.asarray([side[language] for language in languages], np.float64) for side in sides)
    z = np.stack(others, axis=-1) if others else np.empty((len(languages), 0))
    one, other = _unit(x, coefficient, z), _unit(y, coefficient, z)
    value = float(np.clip((one * other).sum(), -1, 1))  # rounding may lead beyond
    named = tuple(control)
    if value != value:
        return Correlation(coefficient, value, value, value, value, languages, named)
    generator = np.random.default_rng(stream_seed(seed, "correlate", coefficient))
    draws = generator.integers(len(languages), size=(resamples, len(languages)))
    drawn = (_unit(x[draws], coefficient, z[draws]) * _unit(y[draws], coefficient, z[draws])).sum(-1)
    low, high = np.clip(np.nanquantile(drawn, [0.025, 0.975]), -1, 1)

    def statistic(permuted: np.ndarray, axis: int) -> np.ndarray:
        moved = np.moveaxis(permuted, axis, -1)
        return ((moved if control else _unit(moved, coefficient)) * other).sum(-1)

    test = stats.permutation_test(
        (one if control else x,),
        statistic,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=resamples,
        rng=generator,
    )
    return Correlation(coefficient, value, float(low), float(high), float(test.pvalue), languages, named)


def _unit(values: np.ndarray, coefficient: Coefficient, control: np.ndarray | None = None) -> np.ndarray:
    """What the coefficient correlates, as a vector of length 1: the coefficient is the product of two such.

    Args:
        values: ``(…, languages)``.
        coefficient: the values themselves, their ranks, or the signs of all differences (Kendall's tau-b).
        control: ``(…, languages, quantities)``: what the quantities explain linearly is taken off.

    Returns:
        ``(…, m)``; NaN where all values are equal, or explained.
    """
    if coefficient == "kendall":
        first, second = np.triu_indices(values.shape[-1], 1)
        vectors = np.sign(values[..., first] - values[..., second])
    else:
        vectors = stats.rankdata(values, axis=-1) if coefficient == "spearman" else values
        vectors = vectors - vectors.mean(axis=-1, keepdims=True)
        if control is not None and control.shape[-1]:
            known = stats.rankdata(control, axis=-2) if coefficient == "spearman" else control
            known = known - known.mean(axis=-2, keepdims=True)
            explained = known @ (np.linalg.pinv(known) @ vectors[..., None])
            vectors = vectors - explained[..., 0]
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.full_like(vectors, np.nan), where=length > 1e-9)
