"""What a similarity would be for other sentences: intervals by leaving some out, nulls by mixing them up."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from crosslens.digests import stream_seed
from crosslens.similarity.cka import Centred, pair_up, permuted, taken

GROUPS = 20
"""Groups of sentences that the jackknife leaves out, one after the other."""

SHUFFLES = 20
"""Orders that a null is the mean of, where it has no closed form."""

Compute = Callable[[Centred, Centred], float]


def jackknife(
    measures: Sequence[Compute], x: Centred, y: Centred, *, groups: int = GROUPS, seed: int = 0
) -> np.ndarray:
    """How far 95 % intervals over sentences reach, by the jackknife that leaves out random groups in turn.

    Not by the bootstrap: it draws sentences twice, two equal sentences are perfectly alike on both sides, and the
    intervals of CKA, RSA and Procrustes then lie above the value itself; in retrieval a sentence ties with its double.

    An interval is that of the measure's mean over samples of as many sentences. Most measures depend on how many there
    are: CKA of few sentences lies above that of the population, which its interval then does not cover. Debiased CKA
    has no such bias, and its interval covers the population's value.

    Args:
        measures: what is computed; all of the same sentences, which are prepared once for all of them.
        x: one side.
        y: the other.
        groups: as many, or one a sentence where there are fewer.
        seed: of the groups.

    Returns:
        ``(measures,)``: how far to either side of its value each one's interval reaches; NaN where the measure is
        undefined without some group.
    """
    x, y = pair_up(x, y)
    n = len(x.features)
    groups = min(groups, n)
    group = np.random.default_rng(stream_seed(seed, "jackknife", n)).permutation(n) % groups
    values = np.empty((groups, len(measures)))
    for number in range(groups):
        rows = np.flatnonzero(group != number)
        some = taken(x, rows), taken(y, rows)
        values[number] = [compute(*some) for compute in measures]
    return stats.t.ppf(0.975, groups - 1) * np.sqrt((groups - 1) * values.var(0))


def shuffled(compute: Compute, x: Centred, y: Centred, *, seed: int = 0) -> float:
    """The mean of a measure over random orders of the sentences of one side."""
    return _mean_over(compute, x, y, np.zeros(len(y.features), np.int64), seed)


def length_matched(compute: Compute, x: Centred, y: Centred, *, seed: int = 0) -> float:
    """The mean over random orders that only mix sentences of like length; y must be prepared with lengths."""
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
        # Sorting by group and then by chance mixes the members of every group among their own places.
        order[members] = np.lexsort((generator.random(len(block)), block))
        values.append(compute(x, permuted(y, order)))
    return float(np.mean(values))
