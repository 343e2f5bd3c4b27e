"""Linear centred kernel alignment (Kornblith et al. 2019) between two views of the same sentences.

Everything is computed in float64 from centred columns, in feature space: ``n x d`` matrices cost ``n d²`` and the
``n x n`` Gram matrices are never made.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from crosslens.errors import RequestError


@dataclass(frozen=True, slots=True, eq=False)
class Centred:
    """One side of a comparison, prepared once for any number of partners.

    Attributes:
        features: ``(n, d)`` float64, every column of mean 0.
        mean: ``(d,)`` what was taken off every row.
        squares: ``(n,)`` squared length of each row: the diagonal of the Gram matrix.
        norm: Frobenius norm of the Gram matrix: the square root of its biased HSIC with itself.
        unbiased: its unbiased HSIC with itself.
        block: ``(n,)`` number of the group of items of about one length that each row is in; None: not known.
    """

    features: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    norm: float
    unbiased: float
    block: np.ndarray | None = None


def centre(X: ArrayLike, *, lengths: ArrayLike | None = None) -> Centred:
    """Prepare ``(n, d)`` vectors, one row an item.

    Args:
        X: the vectors.
        lengths: ``(n,)`` of each item, such as its words; what `length_matched_cka` needs.

    Raises:
        RequestError: when X is not a matrix.
    """
    features = np.array(X, np.float64)
    if features.ndim != 2:
        raise RequestError(f"similarity needs a matrix with one row per item, not an array of shape {features.shape}")
    mean = features.mean(axis=0)
    features -= mean
    squares = np.einsum("nd,nd->n", features, features)
    n, d = features.shape
    gram = features.T @ features if n >= d else features @ features.T  # either has the same Frobenius norm
    product = float(np.sum(gram * gram))
    block = None if lengths is None else length_blocks(np.asarray(lengths))
    return Centred(features, mean, squares, product**0.5, _unbiased(product, squares, squares), block)


def taken(side: Centred, rows: np.ndarray) -> Centred:
    """Select rows and centre them again."""
    part = centre(side.features[rows] + side.mean)
    return part if side.block is None else replace(part, block=np.unique(side.block[rows], return_inverse=True)[1])


def permuted(side: Centred, order: np.ndarray) -> Centred:
    """The same rows in another order."""
    block = None if side.block is None else side.block[order]
    return replace(side, features=side.features[order], squares=side.squares[order], block=block)


def length_blocks(lengths: np.ndarray, *, smallest: int = 10) -> np.ndarray:
    """Groups of items of about one length: neighbouring lengths together until a group has ``smallest`` items.

    Args:
        lengths: ``(n,)``.
        smallest: items of a group, at least, unless there are fewer in all.

    Returns:
        ``(n,)`` numbers of groups, from 0; items of one length are always in one group.
    """
    values, place, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    group = np.zeros(len(values), np.int64)
    size, number = 0, 0
    for i, count in enumerate(counts):
        if size >= smallest:
            size, number = 0, number + 1
        group[i] = number
        size += int(count)
    if 0 < size < smallest and number:
        group[group == number] = number - 1
    return group[place]


def linear_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Linear CKA: 1 for equal representations up to rotation, scaling and translation.

    ``||Yᵀ X||² / (||Xᵀ X|| ||Yᵀ Y||)`` on centred columns: Muller et al. (2021), appendix A.1.2, prints the formula
    without the centring that its code does. Biased: unrelated sentences of ``d`` independent dimensions score about
    ``d / (d + n)``, so compare it with `shuffled_cka`.

    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> round(linear_cka(X, 2 * X[:, ::-1] + 1), 6)
    1.0

    Args:
        X: ``(n, d)``, one row a sentence.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        A value of 0 to 1 up to rounding; NaN where one side is constant or holds a NaN.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    return ratio(_cross(x, y), x.norm * y.norm)


def debiased_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Linear CKA from the unbiased HSIC (Song et al. 2012): about 0 for unrelated sentences, whatever n and d.

    Args:
        X: ``(n, d)``, n at least 4.
        Y: ``(n, e)``.

    Returns:
        A value that may fall a little below 0 or above 1; NaN where a side's own unbiased HSIC is not positive.

    Raises:
        RequestError: when the numbers of rows differ, or are under 4.
    """
    x, y = pair_up(X, Y)
    if len(x.features) < 4:
        raise RequestError(f"debiased CKA needs at least 4 sentences, but there are {len(x.features)}")
    hsic = _unbiased(_cross(x, y), x.squares, y.squares)
    return ratio(hsic, (max(x.unbiased, 0.0) * max(y.unbiased, 0.0)) ** 0.5)


def shuffled_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Expected linear CKA when the sentences of one side are shuffled.

    Over all n! orders the mean of ``trace(K P L Pᵀ)`` for centred Gram matrices is ``trace(K) trace(L) / (n - 1)``,
    so this baseline is exact and needs no sampling.

    Args:
        X: ``(n, d)``.
        Y: ``(n, e)``.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    expected = x.squares.sum() * y.squares.sum() / max(len(x.features) - 1, 1)
    return ratio(float(expected), x.norm * y.norm)


def length_matched_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Expected linear CKA when Y's sentences are shuffled among sentences of similar length.

    A sentence and its translation have similar lengths, and length alone makes representations similar. Similarity
    above this baseline is not due to length. Exact, like `shuffled_cka`: within and between groups of similar
    length the Gram matrix of Y is replaced by its means over those shuffles.

    Args:
        X: ``(n, d)``.
        Y: ``(n, e)``, prepared by `centre` with lengths.

    Raises:
        RequestError: when the numbers of rows differ, or Y comes without lengths.
    """
    x, y = pair_up(X, Y)
    if y.block is None:
        raise RequestError(
            "length-matched CKA needs the sentence lengths of Y", hint="prepare Y with centre(Y, lengths=…)"
        )
    sizes = np.bincount(y.block).astype(np.float64)
    member = np.equal.outer(np.arange(len(sizes)), y.block).astype(np.float64)
    within, sums = [], []
    for side in (x, y):
        totals = member @ side.features
        sums.append(totals @ totals.T)
        within.append(member @ side.squares)
    between = sums[0] * sums[1] / np.outer(sizes, sizes)
    np.fill_diagonal(between, 0.0)
    others = [np.diag(total) - diagonal for total, diagonal in zip(sums, within, strict=True)]
    pairs = np.maximum(sizes * (sizes - 1), 1.0)
    expected = between.sum() + (within[0] * within[1] / sizes).sum() + (others[0] * others[1] / pairs).sum()
    return ratio(float(expected), x.norm * y.norm)


def pair_up(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> tuple[Centred, Centred]:
    """Both sides, prepared.

    Raises:
        RequestError: when the numbers of rows differ.
    """
    x, y = (side if isinstance(side, Centred) else centre(side) for side in (X, Y))
    if len(x.features) != len(y.features):
        raise RequestError(
            f"similarity needs the same sentences on both sides, but there are {len(x.features)} and {len(y.features)}"
        )
    return x, y


@lru_cache(maxsize=1)  # with and without the bias it is the same
def _cross(x: Centred, y: Centred) -> float:
    """``||Yᵀ X||²``, by the smaller of the two ways."""
    n, d, e = len(x.features), x.features.shape[1], y.features.shape[1]
    if n >= min(d, e):
        product = y.features.T @ x.features
        return float(np.sum(product * product))
    return float(np.sum((x.features @ x.features.T) * (y.features @ y.features.T)))


def _unbiased(product: float, a: np.ndarray, b: np.ndarray) -> float:
    """Unbiased HSIC (Song et al. 2012, equation 5), from the biased product and the Gram matrices' diagonals.

    The estimator takes Gram matrices K, L with their diagonals a, b set to zero. On centred columns the rows of the
    full K sum to 0, so the rows of the emptied one sum to -a, and all its sums are sums over a and b.
    """
    n = len(a)
    if n < 4:
        return float("nan")
    diagonal = float(a @ b)
    total = product - diagonal + float(a.sum() * b.sum()) / ((n - 1) * (n - 2)) - 2 / (n - 2) * diagonal
    return total / (n * (n - 3))


def ratio(numerator: float, denominator: float) -> float:
    """NaN where the denominator is 0 or NaN."""
    return numerator / denominator if denominator > 0 else float("nan")
