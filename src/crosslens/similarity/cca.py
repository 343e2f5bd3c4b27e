"""Canonical correlation analysis (CCA) of two representations: SVCCA and PWCCA."""

import numpy as np
from numpy.typing import ArrayLike

from crosslens.similarity.cka import Centred, pair_up

VARIANCE_KEPT = 0.99
"""Share of the variance that is compared (Raghu et al. 2017); CCA would amplify the rest, which is noise."""


def svcca(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """SVCCA: mean canonical correlation of the directions with 99 % of each side's variance (Raghu et al. 2017).

    The mean is over the smaller number of directions. With few sentences and many directions even unrelated sentences
    score high, so compare with the value for shuffled sentences.

    Returns:
        0 to 1; NaN if a side is constant or contains NaN.
    """
    x, y = pair_up(X, Y)
    u, v = _directions(x), _directions(y)
    if u is None or v is None:
        return float("nan")
    return float(np.clip(np.linalg.svd(u.T @ v, compute_uv=False), 0, 1).mean())


def pwcca(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """PWCCA: canonical correlations weighted by how much of X each direction explains (Morcos et al. 2018).

    Not symmetric, and a rotation of X changes the weights. Directions are chosen as in `svcca`.

    Returns:
        0 to 1; NaN if a side is constant or contains NaN. Also NaN unless there are more sentences than directions on
        both sides together: some correlations are otherwise 1 for any sentences, with arbitrary weights.
    """
    x, y = pair_up(X, Y)
    u, v = _directions(x), _directions(y)
    if u is None or v is None or u.shape[1] + v.shape[1] >= len(u):
        return float("nan")
    left, correlations, _ = np.linalg.svd(u.T @ v, full_matrices=False)
    weights = np.abs((u @ left).T @ x.features).sum(axis=1)
    return float(np.clip(correlations, 0, 1) @ weights / weights.sum())


def _directions(side: Centred) -> np.ndarray | None:
    """Fewest left singular vectors that explain `VARIANCE_KEPT`, ``(n, k)``; None if the side is constant."""
    if not np.isfinite(side.features).all() or not side.squares.any():
        return None
    left, values, _ = np.linalg.svd(side.features, full_matrices=False)
    explained = np.cumsum(values**2) / (values**2).sum()
    return left[:, : int(np.searchsorted(explained, VARIANCE_KEPT - 1e-12)) + 1]
