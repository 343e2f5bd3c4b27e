"""Sentence retrieval: find translations by nearest neighbour, and cosine similarity of translations."""

import numpy as np
from numpy.typing import ArrayLike

from crosslens.similarity.cka import Centred, pair_up

NEIGHBOURS = 10
"""Number of neighbours in CSLS (Conneau et al. 2018), or of sentences if there are fewer."""


def retrieval(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Share of sentences whose nearest neighbour by cosine is their translation, mean of both directions.

    Each language is centred first, because its mean vector identifies the language and obscures the sentences
    (Libovický et al. 2020). A tie with another sentence counts as a miss.

    Returns:
        0 to 1, chance 1 / n; NaN if the widths differ or a side contains NaN or a zero vector.
    """
    scores = _cosines(X, Y)
    if scores is None:
        return float("nan")
    return float((_nearest(scores, axis=1).mean() + _nearest(scores, axis=0).mean()) / 2)


def retrieval_csls(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Retrieval by cross-domain similarity local scaling (CSLS), which corrects for hubs (Conneau et al. 2018, eq. 5).

    Returns:
        0 to 1; NaN as in `retrieval`.
    """
    cosines = _cosines(X, Y)
    if cosines is None:
        return float("nan")
    import torch  # fast topk; imported here so that listing measures stays quick

    scores = torch.from_numpy(cosines)
    k = min(NEIGHBOURS, len(cosines))
    densities = [scores.topk(k, dim=dim, sorted=False).values.mean(dim).numpy() for dim in (1, 0)]
    # A constant per row (or column) does not change its own ranking, so one subtraction per direction suffices.
    cosines -= densities[1] / 2
    forward = _nearest(cosines, axis=1)
    cosines -= densities[0][:, None] / 2
    return float((forward.mean() + _nearest(cosines, axis=0).mean()) / 2)


def mexa(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """MEXA: share of sentence pairs that are nearest neighbours in both directions (Kargaran et al. 2025).

    Uses the cosine of uncentred vectors, so language-specific components of a decoder can obscure the sentences.

    Returns:
        0 to 1; NaN if the widths differ or a side contains NaN or a zero vector.
    """
    scores = _raw_cosines(X, Y)
    if scores is None:
        return float("nan")
    return float((_nearest(scores, axis=1) & _nearest(scores, axis=0)).mean())


def cosine(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Mean cosine of translations minus mean cosine of all other pairs, on uncentred vectors.

    The second term is needed because the vectors of most encoders lie in a narrow cone: any two sentences are similar.

    Returns:
        -2 to 2; NaN if the widths differ or a side contains NaN or a zero vector.
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
    """Cosines of all pairs of rows, ``(n, n)``; None if undefined."""
    lengths = [np.linalg.norm(side, axis=1) for side in (x, y)]
    if x.shape[1] != y.shape[1] or not all(np.isfinite(norms).all() and norms.all() for norms in lengths):
        return None
    return (x / lengths[0][:, None]) @ (y / lengths[1][:, None]).T


def _nearest(scores: np.ndarray, *, axis: int) -> np.ndarray:
    """Whether each sentence's translation scores above all others, ``(n,)``, searching rows (1) or columns (0)."""
    own = np.diag(scores).copy()
    np.fill_diagonal(scores, -np.inf)
    nearest = own > scores.max(axis=axis)
    np.fill_diagonal(scores, own)
    return nearest
