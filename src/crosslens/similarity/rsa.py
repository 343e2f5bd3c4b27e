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
    sides = [pdist(its.features) for its in (x, y)]
    if not all(np.isfinite(its).all() and len(its) > 1 and np.ptp(its) > 0 for its in sides):
        return float("nan")
    return float(np.corrcoef([rankdata(its) for its in sides])[0, 1])
