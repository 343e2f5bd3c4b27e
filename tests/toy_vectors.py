"""Word vectors that the tests make, and how they are compared."""

import numpy as np

from crosslens.alignment.vectors import WordVectors


def vectors(words, rows, language="en"):
    rows = np.asarray(rows, np.float32)
    return WordVectors(tuple(words), rows[None], (0,), "made", language, np.ones(len(words)))


def precision(results):
    return {row["metric"]: row["value"] for row in results.records.to_pylist()}


def csls(x, y, k=10, *, among=None):
    """MUSE's definition, pair by pair; ``among`` are all words of the source."""
    x, y, among = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y, x if among is None else among))
    cosines = x @ y.T
    near_x = np.sort(cosines, 1)[:, -k:].mean(1)
    near_y = np.sort(among @ y.T, 0)[-k:].mean(0)
    return 2 * cosines - near_x[:, None] - near_y[None]
