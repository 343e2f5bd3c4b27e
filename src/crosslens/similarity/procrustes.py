"""Procrustes similarity: how closely a rotation maps one representation to the other."""

import numpy as np
from numpy.typing import ArrayLike

from crosslens.similarity.cka import Centred, pair_up, ratio


def procrustes(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Procrustes similarity: 1 for equal representations up to rotation, scaling and translation.

    ``||Yᵀ X||₊ / (||X|| ||Y||)`` on centred columns, with the nuclear norm above and Frobenius norms below. For sides
    of norm 1, the best rotation R (into the wider space if widths differ) leaves ``||X R - Y||²`` equal to 2 minus
    twice this similarity (Schönemann 1966; Williams et al. 2021).

    Returns:
        0 to 1; NaN if a side is constant or contains NaN.
    """
    x, y = pair_up(X, Y)
    lengths = float(np.sqrt(x.squares.sum() * y.squares.sum()))
    product = y.features.T @ x.features
    if not np.isfinite(product).all():
        return float("nan")
    return ratio(float(np.linalg.svd(product, compute_uv=False).sum()), lengths)
