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
        seed: seed of the run.
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


def evaluation_batches(lengths: Sequence[int], *, budget: int) -> list[np.ndarray]:
    """Batch windows for one pass: sorted by length, at most ``budget`` subwords per batch, including padding.

    >>> [batch.tolist() for batch in evaluation_batches([2, 5, 3], budget=6)]
    [[1], [2, 0]]

    Args:
        lengths: number of subwords of each window, ``(windows,)``.
        budget: maximum number of subwords per batch; a longer window gets its own batch.

    Returns:
        Indices of the windows of each batch; the caller restores the original order.
    """
    sizes = np.asarray(lengths)
    order = np.argsort(-sizes, kind="stable")  # longest first, so that insufficient memory shows at once
    batches = []
    start = 0
    while start < len(order):
        fits = max(1, budget // int(sizes[order[start]]))
        batches.append(order[start : start + fits])
        start += fits
    return batches
