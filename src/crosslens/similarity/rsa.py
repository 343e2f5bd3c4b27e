"""Representational similarity analysis (Kriegeskorte et al. 2008): do both sides find the same sentences alike?"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.stats import rankdata

from crosslens.similarity.cka import Centred, pair_up


def rsa(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Spearman's correlation of all distances between sentences on the one side with those on the other.

    Distances are Euclidean, so rotations, scalings and translations change nothing.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        -1 to 1; NaN where all distances of one side are equal, or one holds a NaN.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    sides = [pdist(side.features) for side in (x, y)]
    if not all(np.isfinite(distances).all() and len(distances) > 1 and np.ptp(distances) > 0 for distances in sides):
        return float("nan")
    return float(np.corrcoef([rankdata(distances) for distances in sides])[0, 1])
