"""CKA with a Gaussian kernel (Kornblith et al. 2019, section 4): near neighbours count, far ones do not."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform

from crosslens.similarity.cka import Centred, pair_up, ratio


def rbf_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """CKA of Gram matrices ``exp(-d² / 2s²)``, with s the median distance between sentences of that side.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN where one side is constant or holds a NaN.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    grams = [_gram(side) for side in (x, y)]
    if grams[0] is None or grams[1] is None:
        return float("nan")
    lengths = float(np.linalg.norm(grams[0]) * np.linalg.norm(grams[1]))
    return ratio(float((grams[0] * grams[1]).sum()), lengths)


def _gram(side: Centred) -> np.ndarray | None:
    """``(n, n)``, rows and columns centred; None where the distances have no positive median."""
    distances = pdist(side.features)
    median = np.median(distances) if len(distances) else 0.0
    if not median > 0:
        return None
    gram = squareform(np.exp(-(distances**2) / (2 * median**2))) + np.eye(len(side.features))
    return gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
