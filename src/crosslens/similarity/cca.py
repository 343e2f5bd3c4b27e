"""Canonical correlations between two representations, summarised in two ways."""

import numpy as np
from numpy.typing import ArrayLike

from crosslens.similarity.cka import Centred, pair_up

KEPT = 0.99
"""Share of the variance whose directions are compared (Raghu et al. 2017); the rest is noise that CCA would blow up."""


def svcca(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """SVCCA: mean canonical correlation of the directions with 99 % of each side's variance (Raghu et al. 2017).

    The mean is over the smaller number of directions. With few sentences and many directions it is high even for
    unrelated sentences, so compare it with its value for shuffled ones.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN where one side is constant or holds a NaN.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    u, v = _directions(x), _directions(y)
    if u is None or v is None:
        return float("nan")
    return float(np.clip(np.linalg.svd(u.T @ v, compute_uv=False), 0, 1).mean())


def pwcca(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """PWCCA: canonical correlations weighted by how much of X each direction explains (Morcos et al. 2018).

    Not symmetric, and a rotation of X changes the weights. Directions are those of `svcca`.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN where one side is constant or holds a NaN, and where there are no more sentences than directions
        of both sides together: some correlations are then 1 whatever the sentences, and their weights are anyone's.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    u, v = _directions(x), _directions(y)
    if u is None or v is None or u.shape[1] + v.shape[1] >= len(u):
        return float("nan")
    left, correlations, _ = np.linalg.svd(u.T @ v, full_matrices=False)
    weights = np.abs((u @ left).T @ x.features).sum(axis=1)
    return float(np.clip(correlations, 0, 1) @ weights / weights.sum())


def _directions(side: Centred) -> np.ndarray | None:
    """``(n, k)`` orthonormal: the fewest left singular vectors that carry the share kept; None of a constant."""
    if not np.isfinite(side.features).all() or not side.squares.any():
        return None
    left, values, _ = np.linalg.svd(side.features, full_matrices=False)
    carried = np.cumsum(values**2) / (values**2).sum()
    return left[:, : int(np.searchsorted(carried, KEPT - 1e-12)) + 1]
