"""Procrustes similarity: how well one representation is rotated into the other."""

import numpy as np
from numpy.typing import ArrayLike

from crosslens.similarity.cka import Centred, pair_up, ratio


def procrustes(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """``||Yᵀ X||₊ / (||X|| ||Y||)`` on centred columns, with the nuclear norm above and Frobenius norms below.

    The best rotation R (of equal widths, or into the wider space) leaves ``||X R - Y||² = 2 - 2 times`` it when both
    sides have length 1 (Schönemann 1966; Williams et al. 2021): 1 is equal up to rotation, scaling and translation.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN where one side is constant or holds a NaN.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    lengths = float(np.sqrt(x.squares.sum() * y.squares.sum()))
    product = y.features.T @ x.features
    if not np.isfinite(product).all():
        return float("nan")
    return ratio(float(np.linalg.svd(product, compute_uv=False).sum()), lengths)
