"""CKA with a Gaussian kernel (Kornblith et al. 2019, section 4), which is sensitive to near neighbours only."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform

from crosslens.errors import RequestError
from crosslens.similarity.cka import Centred, pair_up, ratio, select_rows


def rbf_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """CKA of Gram matrices ``exp(-d² / 2s²)``, where s² is the median non-zero squared distance between sentences.

    Returns:
        0 to 1; NaN if a side is constant or contains NaN.
    """
    x, y = pair_up(X, Y)
    grams = [_gram(side) for side in (x, y)]
    if grams[0] is None or grams[1] is None:
        return float("nan")
    lengths = float(np.linalg.norm(grams[0]) * np.linalg.norm(grams[1]))
    return ratio(float((grams[0] * grams[1]).sum()), lengths)


def muller2021_code_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """CKA as in the published script of Muller et al. (2021): Gaussian kernel, on about a quarter of the sentences.

    The script is meant to average over four quarters, but takes rows ``i`` to ``i + n/4`` for i = 0, 1, 2, 3: windows
    shifted by one sentence each, so that most sentences are ignored. The kernel is that of `rbf_cka`.

    Args:
        X: ``(n, d)``, one row per sentence; with pooling ``muller2021-code``, as in the script.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        0 to 1; NaN if a side of a window is constant or contains NaN.

    Raises:
        RequestError: if the numbers of rows differ or are below 8.
    """
    x, y = pair_up(X, Y)
    size = len(x.features) // 4
    if size < 2:
        raise RequestError(f"the published script needs 8 sentences, but there are {len(x.features)}")
    windows = [np.arange(start, start + size) for start in range(4)]
    return float(np.mean([rbf_cka(select_rows(x, rows), select_rows(y, rows)) for rows in windows]))


def _gram(side: Centred) -> np.ndarray | None:
    """Gram matrix ``(n, n)``, rows and columns centred; None if all rows are equal or one contains NaN."""
    squares = pdist(side.features, "sqeuclidean")
    positive = squares[squares > 0]
    if not len(positive) or not np.isfinite(squares).all():
        return None
    gram = squareform(np.exp(-squares / (2 * np.median(positive)))) + np.eye(len(side.features))
    return gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()
