"""Resample sentences: jackknife intervals of similarities, and baselines by shuffling."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from crosslens.digests import stream_seed
from crosslens.similarity.cka import Centred, pair_up, permuted, select_rows

GROUPS = 20
"""Number of groups of sentences that the jackknife leaves out in turn."""

SHUFFLES = 20
"""Number of random orders that a sampled baseline averages over."""

Compute = Callable[[Centred, Centred], float]


def jackknife(measures: Sequence[Compute], x: Centred, y: Centred) -> np.ndarray:
    """Compute half-widths of 95 % intervals over sentences, by the delete-a-group jackknife.

    The bootstrap is unsuitable: it repeats sentences, and equal sentences are perfectly similar on both sides, so the
    intervals of CKA, RSA and Procrustes lie above the value itself; in retrieval a sentence ties with its duplicate.

    An interval covers the measure's mean over samples of the same size. Most measures depend on the size: CKA on few
    sentences exceeds its population value, which the interval then misses. Debiased CKA has no such bias, so its
    interval covers the population value.

    Args:
        measures: functions of two centred representations, computed on the same groups.
        x: one side.
        y: the other side.

    Returns:
        ``(measures,)`` half-widths; NaN if a measure is undefined without some group.
    """
    x, y = pair_up(x, y)
    n = len(x.features)
    groups = min(GROUPS, n)
    group = np.random.default_rng(stream_seed(0, "jackknife", n)).permutation(n) % groups
    values = np.empty((groups, len(measures)))
    for number in range(groups):
        rows = np.flatnonzero(group != number)
        sides = select_rows(x, rows), select_rows(y, rows)
        values[number] = [compute(*sides) for compute in measures]
    return stats.t.ppf(0.975, groups - 1) * np.sqrt((groups - 1) * values.var(0))


def shuffled(compute: Compute, x: Centred, y: Centred, *, seed: int = 0) -> float:
    """Mean of a measure over random orders of one side's sentences."""
    return _mean_over(compute, x, y, np.zeros(len(y.features), np.int64), seed)


def length_matched(compute: Compute, x: Centred, y: Centred, *, seed: int = 0) -> float:
    """Mean of a measure over random orders among sentences of similar length; NaN if ``y`` has no lengths."""
    if y.block is None:
        return float("nan")
    return _mean_over(compute, x, y, y.block, seed)


def _mean_over(compute: Compute, x: Centred, y: Centred, block: np.ndarray, seed: int) -> float:
    x, y = pair_up(x, y)
    generator = np.random.default_rng(stream_seed(seed, "shuffle", len(block)))
    members = np.argsort(block, kind="stable")
    values = []
    for _ in range(SHUFFLES):
        order = np.empty(len(block), np.int64)
        # Sorting by group, then randomly, shuffles each group within its own positions.
        order[members] = np.lexsort((generator.random(len(block)), block))
        values.append(compute(x, permuted(y, order)))
    return float(np.mean(values))
