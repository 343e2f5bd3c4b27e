"""Linear centred kernel alignment (CKA; Kornblith et al. 2019) of two representations of the same sentences.

All computation is in float64, on centred columns and in feature space: ``n x d`` matrices cost ``n d²``, and the
``n x n`` Gram matrices are not formed.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from crosslens.errors import RequestError


@dataclass(frozen=True, slots=True, eq=False)
class Centred:
    """Centred representation, prepared once for any number of comparisons.

    Attributes:
        features: ``(n, d)`` float64; every column has mean 0.
        mean: ``(d,)`` mean that was subtracted from every row.
        squares: ``(n,)`` squared norm of each row, the diagonal of the Gram matrix.
        norm: Frobenius norm of the Gram matrix, the square root of its biased HSIC with itself.
        unbiased: unbiased HSIC of the Gram matrix with itself.
        block: ``(n,)`` length group of each row, from `length_blocks`; None if lengths are unknown.
    """

    features: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    norm: float
    unbiased: float
    block: np.ndarray | None = None


def centre(X: ArrayLike, *, lengths: ArrayLike | None = None) -> Centred:
    """Centre a representation and prepare it for comparison.

    Args:
        X: ``(n, d)`` vectors, one row per item.
        lengths: ``(n,)`` length of each item, such as words; required by `length_matched_cka`.

    Raises:
        RequestError: if X is not a matrix.
    """
    features = np.array(X, np.float64)
    if features.ndim != 2:
        raise RequestError(f"similarity needs a matrix with one row per item, not an array of shape {features.shape}")
    mean = features.mean(axis=0)
    constant = (features == features[:1]).all(axis=0)
    features -= mean
    features[:, constant] = 0.0  # a mean of equal numbers may be another one by rounding
    squares = np.einsum("nd,nd->n", features, features)
    n, d = features.shape
    gram = features.T @ features if n >= d else features @ features.T  # both have the same Frobenius norm
    product = float(np.sum(gram * gram))
    block = None if lengths is None else length_blocks(np.asarray(lengths))
    return Centred(features, mean, squares, product**0.5, _unbiased(product, squares, squares), block)


def select_rows(side: Centred, rows: np.ndarray) -> Centred:
    """Select rows and centre them again."""
    selected = centre(side.features[rows] + side.mean)
    if side.block is None:
        return selected
    return replace(selected, block=np.unique(side.block[rows], return_inverse=True)[1])


def permuted(side: Centred, order: np.ndarray) -> Centred:
    """Reorder the rows."""
    block = None if side.block is None else side.block[order]
    return replace(side, features=side.features[order], squares=side.squares[order], block=block)


def length_blocks(lengths: np.ndarray, *, smallest: int = 10) -> np.ndarray:
    """Group items by length, merging neighbouring lengths until a group has ``smallest`` items.

    Args:
        lengths: ``(n,)`` length of each item.
        smallest: minimum size of a group, unless there are fewer items in all.

    Returns:
        ``(n,)`` group numbers from 0; items of equal length share a group.
    """
    values, position, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    group = np.zeros(len(values), np.int64)
    size, number = 0, 0
    for i, count in enumerate(counts):
        if size >= smallest:
            size, number = 0, number + 1
        group[i] = number
        size += int(count)
    if 0 < size < smallest and number:
        group[group == number] = number - 1
    return group[position]


def linear_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Linear CKA: 1 for equal representations up to rotation, scaling and translation.

    ``||Yᵀ X||² / (||Xᵀ X|| ||Yᵀ Y||)`` on centred columns. Muller et al. (2021, appendix A.1.2) print the formula
    without centring, but their code centres. Biased: unrelated sentences with ``d`` independent dimensions score about
    ``d / (d + n)``, so compare with `shuffled_cka`.

    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> round(linear_cka(X, 2 * X[:, ::-1] + 1), 6)
    1.0

    Args:
        X: ``(n, d)``, one row per sentence.
        Y: ``(n, e)``, the same sentences in the same order.

    Returns:
        0 to 1, up to rounding; NaN if a side is constant or contains NaN.

    Raises:
        RequestError: if the numbers of rows differ.
    """
    x, y = pair_up(X, Y)
    return ratio(_cross(x, y), x.norm * y.norm)


def debiased_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Linear CKA from the unbiased HSIC (Song et al. 2012): about 0 for unrelated sentences, for any n and d.

    Args:
        X: ``(n, d)``, n at least 4.
        Y: ``(n, e)``.

    Returns:
        0 to 1, or slightly beyond; NaN if the unbiased HSIC of a side with itself is not positive.

    Raises:
        RequestError: if the numbers of rows differ or are below 4.
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
    """
    x, y = pair_up(X, Y)
    expected = x.squares.sum() * y.squares.sum() / max(len(x.features) - 1, 1)
    return ratio(float(expected), x.norm * y.norm)


def length_matched_cka(X: ArrayLike | Centred, Y: ArrayLike | Centred) -> float:
    """Expected linear CKA when Y's sentences are shuffled among sentences of similar length.

    A sentence and its translation have similar lengths, and length alone makes representations similar. Similarity
    above this baseline is not due to length. Exact, like `shuffled_cka`: within and between groups of similar length,
    the Gram matrix of Y is replaced by its means over those shuffles.

    Args:
        X: ``(n, d)``.
        Y: ``(n, e)``, prepared by `centre` with lengths.

    Raises:
        RequestError: if the numbers of rows differ, or Y has no lengths.
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
    """Prepare both sides of a comparison."""
    x, y = (side if isinstance(side, Centred) else centre(side) for side in (X, Y))
    if len(x.features) != len(y.features):
        raise RequestError(
            f"similarity needs the same sentences on both sides, but there are {len(x.features)} and {len(y.features)}"
        )
    return x, y


@lru_cache(maxsize=1)  # biased and debiased CKA share it
def _cross(x: Centred, y: Centred) -> float:
    """``||Yᵀ X||²``, from the smaller of the possible products."""
    n, d, e = len(x.features), x.features.shape[1], y.features.shape[1]
    if n >= min(d, e):
        product = y.features.T @ x.features
        return float(np.sum(product * product))
    return float(np.sum((x.features @ x.features.T) * (y.features @ y.features.T)))


def _unbiased(product: float, a: np.ndarray, b: np.ndarray) -> float:
    """Unbiased HSIC (Song et al. 2012, equation 5), from the biased product and the diagonals of the Gram matrices.

    The estimator sets the diagonals a, b of the Gram matrices K, L to zero. With centred columns the rows of K sum to
    0, so they sum to -a without the diagonal, and all sums in the estimator are sums over a and b.
    """
    n = len(a)
    if n < 4:
        return float("nan")
    diagonal = float(a @ b)
    total = product - diagonal + float(a.sum() * b.sum()) / ((n - 1) * (n - 2)) - 2 / (n - 2) * diagonal
    return total / (n * (n - 3))


def ratio(numerator: float, denominator: float) -> float:
    """Divide; NaN if the denominator is 0 or NaN."""
    return numerator / denominator if denominator > 0 else float("nan")
