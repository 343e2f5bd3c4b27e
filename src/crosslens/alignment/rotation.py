"""Orthogonal Procrustes mapping between two spaces, after iterative normalisation.

The mapping has a closed form (Conneau, Wu et al. 2020, section 5.1). Before, both spaces are normalised as in Zhang et
al. (2019): scaled to unit length, then several times centred and scaled again. The means are kept for new rows.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from crosslens.errors import RequestError, require_integer

if TYPE_CHECKING:  # imports torch, which reports do not need
    from crosslens.encoders.encoder import Encoder

ROUNDS = 5
"""Number of rounds of centring and scaling, as in the code of Zhang et al. (2019)."""

EPSILON = 1e-8
"""Added to lengths, so that rows of zeros remain zero."""

FEWEST = 2
"""Minimum number of pairs for a rotation."""


def refuse_different_widths(source: "Encoder", target: "Encoder") -> None:
    """Check that two encoders have the same width.

    Raises:
        RequestError: if they differ.
    """
    if source.width != target.width:
        raise RequestError(
            f"an orthogonal mapping needs encoders of the same hidden size, but {source.name} has {source.width},"
            f" {target.name} {target.width}",
            hint="crosslens compare measures CKA between encoders of any size",
        )


@dataclass(frozen=True, slots=True, eq=False)
class Normalisation:
    """Iterative normalisation fitted to a space.

    Attributes:
        means: ``(rounds, width)`` mean subtracted in each round.
    """

    means: np.ndarray

    @classmethod
    def of(cls, X: ArrayLike, *, rounds: int = ROUNDS) -> "Normalisation":
        """Fit the means to ``(n, width)`` rows."""
        x = _unit(np.asarray(X, np.float64))
        means = []
        for _ in range(rounds):
            means.append(x.mean(0))
            x = _unit(x - means[-1])
        return cls(np.asarray(means).reshape(rounds, x.shape[1]))

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Normalise ``(n, width)`` rows to float64 rows of unit length."""
        x = _unit(np.asarray(X, np.float64))
        for mean in self.means:
            x = _unit(x - mean)
        return x


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """Orthogonal mapping from a source space into a target space.

    Attributes:
        matrix: ``(width, width)`` orthogonal matrix, applied to normalised rows from the right.
    """

    source: Normalisation
    target: Normalisation
    matrix: np.ndarray

    def __call__(self, X: ArrayLike) -> np.ndarray:
        """Map ``(n, width)`` rows of the source space; compare them with rows that `target` normalised."""
        return self.source(X) @ self.matrix


def fit_rotation(X: ArrayLike, Y: ArrayLike, *, rounds: int = ROUNDS) -> Rotation:
    """Fit the orthogonal ``W`` that minimises the distance of ``X W`` and ``Y``, both normalised.

    ``W`` may include a reflection.

    Args:
        X: ``(n, width)`` rows of the source space.
        Y: ``(n, width)`` corresponding rows of the target space.
        rounds: rounds of normalisation; 0: scaling to unit length only.

    Returns:
        The normalisation of both spaces, and the ``(width, width)`` orthogonal matrix.

    Raises:
        RequestError: if the shapes differ, there are fewer than 2 rows, values are not finite, or ``rounds``
            is below 0.

    Examples:
        >>> import numpy as np
        >>> source = np.random.default_rng(1).normal(size=(50, 4))
        >>> rotation = xl.fit_rotation(source, source[:, ::-1])
        >>> np.allclose(rotation.matrix @ rotation.matrix.T, np.eye(4))
        True
    """
    rounds = require_integer(rounds, "rounds", least=0)
    x, y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    if x.shape != y.shape or x.ndim != 2:
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
