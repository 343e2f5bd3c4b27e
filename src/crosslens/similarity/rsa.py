"""Representational similarity analysis (RSA; Kriegeskorte et al. 2008): compare distances between sentences."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.stats import rankdata

from crosslens.similarity.cka import Centred, pair_up


def rsa(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Spearman correlation between the pairwise distances of sentences on one side and on the other.

    Distances are Euclidean, so the value is invariant to rotation, scaling and translation.

    Returns:
        -1 to 1; NaN if all distances on a side are equal or one is NaN.
    """
    x, y = pair_up(X, Y)
    sides = [pdist(side.features) for side in (x, y)]
    if not all(np.isfinite(distances).all() and len(distances) > 1 and np.ptp(distances) > 0 for distances in sides):
        return float("nan")
    return float(np.corrcoef([rankdata(distances) for distances in sides])[0, 1])
