"""One space rotated into another: orthogonal Procrustes after iterative normalisation.

The rotation is found in closed form (Conneau, Wu et al. 2020, section 5.1). Before, both sides are normalised as by
Zhang et al. (2019): to unit length, then several times centred and to unit length again. What was subtracted is kept,
so that rows that come later are treated alike.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crosslens.encoders.encoder import Encoder
from crosslens.errors import RequestError

ROUNDS = 5
"""Rounds of centring and scaling, as in the code of Zhang et al. (2019)."""

EPSILON = 1e-8
"""Added to lengths: a row of zeros stays one."""

FEWEST = 2
"""Pairs that a rotation can be learnt from at all."""


def refuse_different(source: Encoder, target: Encoder) -> None:
    """Check that two encoders' layers can be rotated into one another.

    Raises:
        RequestError: when they differ in layers or width.
    """
    if (source.depth, source.width) != (target.depth, target.width):
        raise RequestError(
            f"layer is rotated into layer of one width: {source.name} has {source.depth} of {source.width},"
            f" {target.name} {target.depth} of {target.width}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Normalisation:
    """What iterative normalisation does to a row.

    Attributes:
        means: ``(rounds, width)``: what is subtracted in each round.
    """

    means: np.ndarray

    @classmethod
    def of(cls, X: ArrayLike, *, rounds: int = ROUNDS) -> "Normalisation":
        """Learn it from rows ``(n, width)``."""
        x = _unit(np.asarray(X, np.float64))
        means = []
        for _ in range(rounds):
            means.append(x.mean(0))
            x = _unit(x - means[-1])
        return cls(np.asarray(means).reshape(rounds, x.shape[1]))

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Normalise rows: ``(n, width)`` float64 of length 1; of what it was learnt from, the mean is near 0."""
        x = _unit(np.asarray(X, np.float64))
        for mean in self.means:
            x = _unit(x - mean)
        return x


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """A map from one space into another's.

    Attributes:
        source: how rows of the first space are normalised.
        target: how rows of the second are.
        matrix: ``(width, width)``, orthogonal; a normalised row of the first space times it is one of the second.
    """

    source: Normalisation
    target: Normalisation
    matrix: np.ndarray

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Rows of the first space in the second, where `target` has normalised the rows that they belong to."""
        return self.source(X) @ self.matrix


def fit_rotation(X: ArrayLike, Y: ArrayLike, *, rounds: int = ROUNDS) -> Rotation:
    """The orthogonal W that brings ``X W`` nearest to ``Y``, both normalised; reflections are allowed.

    Args:
        X: ``(n, width)``, rows of the first space.
        Y: ``(n, width)``, the rows that they belong to.
        rounds: of normalisation; 0: to unit length alone.

    Returns:
        The normalisation of both sides, and the orthogonal matrix ``(width, width)``.

    Raises:
        RequestError: for other numbers of rows or widths, for fewer than 2 rows, for rows that are not finite.

    Example:
        >>> import numpy as np
        >>> source = np.random.default_rng(1).normal(size=(50, 4))
        >>> rotation = xl.fit_rotation(source, source[:, ::-1])
        >>> np.allclose(rotation.matrix @ rotation.matrix.T, np.eye(4))
        True
    """
    x, y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    if x.shape != y.shape:
        raise RequestError(f"a rotation needs two matrices of the same shape, not {x.shape} and {y.shape}")
    if len(x) < FEWEST:
        raise RequestError(f"a rotation needs at least {FEWEST} pairs, but there are {len(x)}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise RequestError("a rotation cannot be learnt from NaN or infinite values")
    source, target = Normalisation.of(x, rounds=rounds), Normalisation.of(y, rounds=rounds)
    u, _, v = np.linalg.svd(source(x).T @ target(y))
    return Rotation(source, target, u @ v)


def _unit(x: np.ndarray) -> np.ndarray:
    return x / (np.linalg.norm(x, axis=1, keepdims=True) + EPSILON)
