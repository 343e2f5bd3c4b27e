"""Counts per sentence behind a score, stored so that intervals and tests need no second evaluation."""

import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crosslens.errors import DataError
from crosslens.files import is_refusal, write_bytes

Counts = dict[str, np.ndarray]
"""``QUESTION METRIC`` -> ``(2, sentences)``: numerators and denominators."""


COUNTS = "counts.npz"
"""File name of counts, in a run of a store or in the folder of one fine-tuning."""


def key(question: str, metric: str) -> str:
    """Return the key of the counts of one question and metric.

    >>> key("3f2a", "las")
    '3f2a las'
    """
    return f"{question} {metric}"


def write_counts(path: Path, counts: Counts) -> None:
    """Write counts to an .npz file, atomically; the bytes do not depend on the order in which scores were added."""
    stream = io.BytesIO()
    counts = dict(sorted(counts.items()))
    # numpy 2.0 has no argument allow_pickle, and would store it as one more array.
    np.savez_compressed(stream, **counts)  # pyright: ignore[reportArgumentType]
    write_bytes(path, stream.getvalue())


def read_counts(path: Path) -> Counts:
    """Read a file that `write_counts` wrote; a missing file has no counts.

    Raises:
        DataError: when the file is damaged.
    """
    if not path.exists():
        return {}
    try:
        # Opened here: numpy leaves a file open that it cannot read.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, LookupError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        if is_refusal(error):
            raise
        reason = str(error).partition(". ")[0]  # numpy's second sentence advises to load pickled data
        raise DataError(f"cannot be read as counts per sentence: {reason}", file=str(path)) from None


def mean_counts(runs: Sequence[Counts]) -> Counts:
    """Average the scores of runs, sentence by sentence.

    Returns:
        The mean contribution of each sentence, and 1 as its denominator. A score that a run lacks, or that is of
        nothing, is left out.
    """
    from crosslens.scores.intervals import linearised  # scipy takes a second to be imported

    means = {}
    for name in runs[0]:
        counts = [of_run[name] for of_run in runs if name in of_run and of_run[name][1].sum()]
        if len(counts) == len(runs):
            mean = np.mean([linearised(array[:1], array[1:])[0] for array in counts], axis=0)
            means[name] = np.stack([mean / 100.0, np.ones_like(mean)])
    return means
