"""Correlation of transfer gap and similarity over languages (Muller et al. 2021, section 4.3, Table 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy import stats

from crosslens.digests import require_seed, stream_seed
from crosslens.errors import RequestError, require_integer, require_known

Coefficient = Literal["spearman", "pearson", "kendall"]

FEW = 8
"""Number of languages below which a correlation carries a warning: 5 of 6 random orders of 3 languages look strong."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """Correlation coefficient over languages.

    Attributes:
        coefficient: name of the coefficient.
        value: -1 to 1; NaN if a side is constant.
        low: lower end of the 95 % bootstrap interval over languages; NaN if undefined.
        high: upper end of the interval.
        p: two-sided permutation p-value: twice the smaller of the shares of permutations with a coefficient at least
            as high or at least as low, at most 1; exact for few languages.
        languages: languages with all values, sorted.
        control: names of the quantities controlled for.
        constant: sides that do not vary over languages, or only with what is controlled for: ``gap``, ``similarity``.
    """

    coefficient: Coefficient
    value: float
    low: float
    high: float
    p: float
    languages: tuple[str, ...]
    control: tuple[str, ...] = ()
    constant: tuple[str, ...] = ()

    @property
    def warning(self) -> str | None:
        """Warning about too few languages, or None."""
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
    """Correlate the transfer gap with similarity over target languages.

    The gap is the same-language minus the cross-language score, so a similarity that predicts good transfer correlates
    *negatively*. Languages with a missing value are left out.

    With ``control`` this is the partial correlation: controlled quantities (their ranks, for Spearman) are regressed
    out of both sides. The permutation test permutes the residuals of the gap, and regresses the quantities out of every
    permutation too (Freedman & Lane 1983).

    Args:
        gap: target language -> transfer gap, in points.
        similarity: target language -> similarity with the source.
        control: name -> target language -> possible confound, such as fertility.
        coefficient: correlation coefficient.
        resamples: number of bootstrap samples, and of permutations if there are too many to enumerate.
        seed: random seed of both.

    Returns:
        Coefficient, interval, p-value and languages.

    Raises:
        RequestError: for an unknown coefficient, values that are not by language, an invalid seed or number of
            resamples; for fewer than 3 languages, plus one for each controlled quantity; for partial correlation with
            Kendall's coefficient, which residuals do not define.

    Examples:
        >>> gap = {"fr": 2.0, "de": 5.0, "ru": 11.0, "fi": 12.0, "ar": 20.0, "hi": 24.0}
        >>> similarity = {"fr": 0.9, "de": 0.8, "ru": 0.6, "fi": 0.5, "ar": 0.3, "hi": 0.4}
        >>> round(xl.correlate(gap, similarity).value, 2)
        -0.94
    """
    require_known(coefficient, get_args(Coefficient), "unknown coefficient")
    seed, resamples = require_seed(seed), require_integer(resamples, "resamples", least=1)
    control = {} if control is None else control
    for side in (gap, similarity, control):
        if not hasattr(side, "items"):
            raise RequestError(
                f"a correlation needs a value for each language, not a {type(side).__name__}",
                hint="`crosslens.correlations` computes gaps and similarities from results",
            )
    if control and coefficient == "kendall":
        raise RequestError(
            "partial correlation is not supported for Kendall's coefficient", hint="use spearman or pearson"
        )
    sides = [gap, similarity, *control.values()]
    known = ({language for language, value in side.items() if not np.isnan(np.float64(value))} for side in sides)
    languages = tuple(sorted(set.intersection(*known)))
    if len(languages) < 3 + len(control):
        beyond = f", and one more for each of {', '.join(control)}" if control else ""
        raise RequestError(
            f"a correlation needs at least 3 languages{beyond}, but there"
            f" {'is' if len(languages) == 1 else 'are'} {len(languages)}"
        )
    x, y, *others = (np.asarray([side[language] for language in languages], np.float64) for side in sides)
    z = np.stack(others, axis=-1) if others else np.empty((len(languages), 0))
    z = stats.rankdata(z, axis=0) if coefficient == "spearman" else z
    unit_x, unit_y = _unit(x, coefficient, z), _unit(y, coefficient, z)
    value = float(np.clip((unit_x * unit_y).sum(), -1, 1))  # rounding may exceed the bounds
    controlled = tuple(control)
    if np.isnan(value):
        constant = tuple(name for name, unit in (("gap", unit_x), ("similarity", unit_y)) if np.isnan(unit).any())
        return Correlation(coefficient, value, value, value, value, languages, controlled, constant)
    generator = np.random.default_rng(stream_seed(seed, "correlate", coefficient))
    samples = generator.integers(len(languages), size=(resamples, len(languages)))
    sampled = (_unit(x[samples], coefficient, z[samples]) * _unit(y[samples], coefficient, z[samples])).sum(-1)
    low, high = np.clip(np.nanquantile(sampled, [0.025, 0.975]), -1, 1)

    def statistic(permuted: np.ndarray, axis: int) -> np.ndarray:
        values = np.moveaxis(permuted, axis, -1)
        # Residuals of ranks are not ranked again. Permuted, they hang together with what is controlled for, by chance.
        units = _unit(values, "pearson", z) if control else _unit(values, coefficient)
        return (units * unit_y).sum(-1)

    test = stats.permutation_test(
        (unit_x if control else x,),
        statistic,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=resamples,
        rng=generator,
    )
    return Correlation(coefficient, value, float(low), float(high), float(test.pvalue), languages, controlled)


def _unit(values: np.ndarray, coefficient: Coefficient, control: np.ndarray | None = None) -> np.ndarray:
    """Transform values into unit vectors whose dot product is the coefficient.

    Args:
        values: ``(…, languages)``.
        coefficient: ``pearson`` uses the values, ``spearman`` ranks, ``kendall`` signs of all differences (tau-b).
        control: ``(…, languages, quantities)`` to regress out.

    Returns:
        ``(…, m)``; NaN where all values are equal or fully explained by the controlled quantities.
    """
    if coefficient == "kendall":
        first, second = np.triu_indices(values.shape[-1], 1)
        vectors = np.sign(values[..., first] - values[..., second])
    else:
        vectors = stats.rankdata(values, axis=-1) if coefficient == "spearman" else values
        vectors = vectors - vectors.mean(axis=-1, keepdims=True)
        if control is not None and control.shape[-1]:
            predictors = stats.rankdata(control, axis=-2) if coefficient == "spearman" else control
            predictors = predictors - predictors.mean(axis=-2, keepdims=True)
            explained = predictors @ (np.linalg.pinv(predictors) @ vectors[..., None])
            vectors = vectors - explained[..., 0]
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, length, out=np.full_like(vectors, np.nan), where=length > 1e-9)
