"""Which windows are read together: windows of one length, because padding is work for nothing."""

from collections.abc import Sequence

import numpy as np

from crosslens.digests import stream_seed

BUCKET = 50
"""Batches that are shuffled and sorted together in training: wide enough to mix, narrow enough to stay random."""


def training_batches(lengths: Sequence[int], *, batch: int, seed: int, epoch: int) -> list[np.ndarray]:
    """The batches of one epoch: every window once, in an order that depends on the seed and the epoch alone.

    Windows are shuffled, sorted by length within stretches of `BUCKET` batches, cut into batches, and the batches
    are shuffled. Ablated and reference runs of one seed therefore see the same batches in the same order.

    Args:
        lengths: ``(windows,)`` subwords.
        batch: windows a batch.
        seed: of the run.
        epoch: counted from 0.

    Returns:
        For each batch the numbers of its windows.
    """
    generator = np.random.default_rng(stream_seed(seed, "order", epoch))
    sizes = np.asarray(lengths)
    order = generator.permutation(len(sizes))
    batches = []
    for start in range(0, len(order), batch * BUCKET):
        stretch = order[start : start + batch * BUCKET]
        stretch = stretch[np.argsort(sizes[stretch], kind="stable")]
        batches += [stretch[i : i + batch] for i in range(0, len(stretch), batch)]
    return [batches[i] for i in generator.permutation(len(batches))]


def evaluation_batches(lengths: Sequence[int], *, budget: int) -> list[np.ndarray]:
    """Batches for a single pass: sorted by length, as many windows as fit ``budget`` subwords, padding included.

    Args:
        lengths: ``(windows,)`` subwords.
        budget: subwords a batch; a longer window has a batch of its own.

    Returns:
        For each batch the numbers of its windows; the order of the input is the caller's to restore.
    """
    sizes = np.asarray(lengths)
    order = np.argsort(-sizes, kind="stable")  # the longest first: what does not fit the memory fails at once
    batches = []
    start = 0
    while start < len(order):
        fits = max(1, budget // int(sizes[order[start]]))
        batches.append(order[start : start + fits])
        start += fits
    return batches
