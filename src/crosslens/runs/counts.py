"""What each sentence adds to a score: kept with the answer, so that intervals and tests need no second evaluation."""

import io
from pathlib import Path

import numpy as np

from crosslens.files import write_bytes
from crosslens.scores.score import Score

Counts = dict[str, np.ndarray]
"""``QUESTION METRIC`` -> ``(2, sentences)``: numerators and denominators."""


def counts_of(question: str, score: Score) -> Counts:
    """A score's counts under its name."""
    return {key(question, score.metric): np.stack([score.numerator, score.denominator])}


def key(question: str, metric: str) -> str:
    """The name of the counts that answer a question by one metric."""
    return f"{question} {metric}"


def write_counts(path: Path, counts: Counts) -> None:
    """Write an .npz file whole or not at all."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **counts)
    write_bytes(path, stream.getvalue())


def read_counts(path: Path) -> Counts:
    """What `write_counts` wrote; empty where there is no file."""
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
