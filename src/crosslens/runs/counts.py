"""Counts per sentence behind a score, stored so that intervals and tests need no second evaluation."""

import io
from pathlib import Path

import numpy as np

from crosslens.files import write_bytes
from crosslens.scores.score import Score

Counts = dict[str, np.ndarray]
"""``QUESTION METRIC`` -> ``(2, sentences)``: numerators and denominators."""


def counts_of(question: str, score: Score) -> Counts:
    """Return the counts of a score under their key."""
    return {key(question, score.metric): np.stack([score.numerator, score.denominator])}


def key(question: str, metric: str) -> str:
    """Return the key of the counts of one question and metric.

    >>> key("3f2a", "las")
    '3f2a las'
    """
    return f"{question} {metric}"


def write_counts(path: Path, counts: Counts) -> None:
    """Write counts to an .npz file, atomically."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **counts)
    write_bytes(path, stream.getvalue())


def read_counts(path: Path) -> Counts:
    """Read a file that `write_counts` wrote; a missing file has no counts."""
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
