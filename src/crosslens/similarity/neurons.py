"""Neuron-wise similarity: does each neuron behave alike in both languages?"""

import numpy as np
from numpy.typing import ArrayLike

from crosslens.similarity.cka import Centred, pair_up


def anc(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Average neuron-wise Pearson correlation over sentences (Del & Fishel 2022).

    Signed, as in the authors' code. A neuron that is constant on one side counts as 0.

    Args:
        X: ``(n, d)``, one row per sentence.
        Y: ``(n, d)``, the same sentences in the same order, from the same encoder or one aligned to it.

    Returns:
        -1 to 1; NaN if the widths differ or a side is constant or contains NaN.
    """
    x, y = pair_up(X, Y)
    if x.features.shape[1] != y.features.shape[1] or not x.norm > 0 or not y.norm > 0:
        return float("nan")
    lengths = np.linalg.norm(x.features, axis=0) * np.linalg.norm(y.features, axis=0)
    products = (x.features * y.features).sum(axis=0)
    return float(np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0).mean())
