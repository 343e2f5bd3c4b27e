"""CKA with a Gaussian kernel (Kornblith et al. 2019, section 4): near neighbours count, far ones do not."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform

from crosslens.errors import RequestError
from crosslens.similarity.cka import Centred, pair_up, ratio, taken


def rbf_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """CKA of Gram matrices ``exp(-d² / 2s²)``, with s² the median squared distance of the side's sentences, zeros out.

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


def muller2021_code_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """What the published script of Muller et al. (2021) computes: CKA with a Gaussian kernel, on a quarter of the data.

    The script means to average over four quarters, and takes rows ``i`` to ``i + n/4`` for i = 0, 1, 2, 3: four windows
    that are shifted by one sentence each, so that most sentences are never looked at. The kernel is as wide as the root
    of the median squared distance that is not 0.

    Args:
        X: ``(n, d)``, one row a sentence; pooled as ``muller2021-code`` to be what the script computes.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN where one side of a window is constant or holds a NaN.

    Raises:
        RequestError: when the numbers of rows differ, or there are fewer than 8.
    """
    x, y = pair_up(X, Y)
    size = len(x.features) // 4
    if size < 2:
        raise RequestError(f"the published script needs 8 sentences, but there are {len(x.features)}")
    windows = [np.arange(start, start + size) for start in range(4)]
    return float(np.mean([rbf_cka(taken(x, rows), taken(y, rows)) for rows in windows]))


def _gram(side: Centred) -> np.ndarray | None:
    """``(n, n)``, rows and columns centred; None where all rows are one, or one is not a number."""
    squares = pdist(side.features, "sqeuclidean")
    apart = squares[squares > 0]
    if not len(apart) or not np.isfinite(squares).all():
        return None
    gram = squareform(np.exp(-squares / (2 * np.median(apart)))) + np.eye(len(side.features))
    return gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
