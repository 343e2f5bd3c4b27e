"""Group windows of similar length into batches, to minimise padding."""

from collections.abc import Sequence

import numpy as np

from crosslens.digests import stream_seed

BUCKET = 50
"""Training batches sorted by length together: enough to reduce padding, few enough to keep the order random."""


def training_batches(lengths: Sequence[int], *, batch: int, seed: int, epoch: int) -> list[np.ndarray]:
    """Batch the windows of one epoch, in an order that depends only on the seed and the epoch.

    Windows are shuffled, sorted by length within buckets of `BUCKET` batches and cut into batches, which are then
    shuffled. Ablated and reference runs with the same seed therefore see the same batches in the same order.

    Args:
        lengths: number of subwords of each window, ``(windows,)``.
        batch: windows per batch.
        epoch: epoch, counted from 0.

    Returns:
        Indices of the windows of each batch.
    """
    generator = np.random.default_rng(stream_seed(seed, "order", epoch))
    sizes = np.asarray(lengths)
    order = generator.permutation(len(sizes))
    batches = []
    for start in range(0, len(order), batch * BUCKET):
        bucket = order[start : start + batch * BUCKET]
        bucket = bucket[np.argsort(sizes[bucket], kind="stable")]
        batches += [bucket[i : i + batch] for i in range(0, len(bucket), batch)]
    return [batches[i] for i in generator.permutation(len(batches))]


OVERHEAD = 16
"""A batch costs as much as one in so many of the largest one's subwords, whatever its size. On a CPU that is 64:
encoders of 4 layers and width 256 and of 12 layers and width 384 compute 75 and 58 subwords in that time."""


def evaluation_batches(lengths: Sequence[int], *, budget: int) -> list[np.ndarray]:
    """Batch windows for one pass: sorted by length, at most ``budget`` subwords per batch, including padding.

    Of all such batches those that cost least are chosen, by their padding and number (`OVERHEAD`). They depend on the
    lengths alone, so that the same windows are computed in the same batches on every machine.

    >>> [batch.tolist() for batch in evaluation_batches([28, 50, 30], budget=64)]
    [[1], [2, 0]]

    Args:
        lengths: number of subwords of each window, ``(windows,)``.
        budget: maximum number of subwords per batch; a longer window gets its own batch.

    Returns:
        Indices of the windows of each batch; the caller restores the original order.
    """
    sizes = np.asarray(lengths)
    order = np.argsort(-sizes, kind="stable")  # longest first, so that insufficient memory shows at once
    count = len(order)
    costs = np.full(count + 1, np.inf)  # least cost of the windows before each place
    starts = np.zeros(count + 1, np.int64)  # where the last batch before each place begins
    costs[0] = 0
    for start in range(count):
        longest = int(sizes[order[start]])
        rows = np.arange(1, min(max(1, budget // max(1, longest)), count - start) + 1)
        tried = costs[start] + longest * rows + budget // OVERHEAD
        ends = slice(start + 1, start + 1 + len(rows))
        better = tried < costs[ends]
        costs[ends][better] = tried[better]
        starts[ends][better] = start
    batches = []
    stop = count
    while stop:
        batches.append(order[starts[stop] : stop])
        stop = int(starts[stop])
    return batches[::-1]
