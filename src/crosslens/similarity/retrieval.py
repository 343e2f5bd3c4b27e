"""Finding a sentence's translation among all sentences of the other language, by nearest neighbour."""

import numpy as np
from numpy.typing import ArrayLike

from crosslens.similarity.cka import Centred, pair_up

NEIGHBOURS = 10
"""Neighbours of CSLS (Conneau et al. 2018); fewer where there are fewer sentences."""


def retrieval(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """The share of sentences whose nearest neighbour by cosine is their translation, mean of both directions.

    Each language is centred first: what all its sentences have in common says which language it is, and hides which
    sentence (Libovický et al. 2020). A tie with another sentence counts as a miss.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, d)``, the same sentences in the same order.

    Returns:
        0 to 1, by chance 1 / n; NaN where the widths differ, or one side holds a NaN or a vector of length 0.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    return _hits(_cosines(X, Y))


def retrieval_csls(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """The same by cross-domain similarity local scaling (Conneau et al. 2018, equation 5), which is kinder to outliers.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, d)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN where `retrieval` is.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    cosines = _cosines(X, Y)
    if cosines is None:
        return float("nan")
    import torch  # its topk is the fastest there is; what only lists measures need not wait for it

    scores = torch.from_numpy(cosines)
    k = min(NEIGHBOURS, len(cosines))
    near = [scores.topk(k, dim=dim, sorted=False).values.mean(dim).numpy() for dim in (1, 0)]
    # A constant of the whole row (or column) changes nothing for its own sentence, so one subtraction each suffices.
    cosines -= near[1] / 2
    there = _nearest(cosines, axis=1)
    cosines -= near[0][:, None] / 2
    return float((there.mean() + _nearest(cosines, axis=0).mean()) / 2)


def mexa(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """The share of sentences whose translation is nearer than any other, both ways at once (Kargaran et al. 2025).

    By cosine of the vectors as they are, not centred: what a decoder keeps for a language then hides its sentences.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, d)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN where the widths differ, or one side holds a NaN or a vector of length 0.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    scores = _raw_cosines(X, Y)
    if scores is None:
        return float("nan")
    return float((_nearest(scores, axis=1) & _nearest(scores, axis=0)).mean())


def cosine(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """The mean cosine of translations minus that of all other pairs, of the vectors as they are.

    Without the second term it would be high for any two sentences: the vectors of most encoders lie in a narrow cone.

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, d)``, the same sentences in the same order.

    Returns:
        -2 to 2; NaN where the widths differ, or one side holds a NaN or a vector of length 0.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    scores = _raw_cosines(X, Y)
    if scores is None:
        return float("nan")
    n, own = len(scores), float(np.trace(scores))
    return own / n - (float(scores.sum()) - own) / max(n * (n - 1), 1)


def _raw_cosines(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> np.ndarray | None:
    x, y = pair_up(X, Y)
    return _products(x.features + x.mean, y.features + y.mean)


def _cosines(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> np.ndarray | None:
    x, y = pair_up(X, Y)
    return _products(x.features, y.features)


def _products(x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """``(n, n)`` cosines of all rows with all rows; None where there are none."""
    lengths = [np.linalg.norm(side, axis=1) for side in (x, y)]
    if x.shape[1] != y.shape[1] or not all(np.isfinite(norms).all() and norms.all() for norms in lengths):
        return None
    return (x / lengths[0][:, None]) @ (y / lengths[1][:, None]).T


def _hits(scores: np.ndarray | None) -> float:
    if scores is None:
        return float("nan")
    return float((_nearest(scores, axis=1).mean() + _nearest(scores, axis=0).mean()) / 2)


def _nearest(scores: np.ndarray, *, axis: int) -> np.ndarray:
    """``(n,)``: whether a sentence's translation is nearer than all others, among the rows' (1) or columns' (0)."""
    own = np.diag(scores).copy()
    np.fill_diagonal(scores, -np.inf)
    nearest = own > scores.max(axis=axis)
    np.fill_diagonal(scores, own)
    return nearest
