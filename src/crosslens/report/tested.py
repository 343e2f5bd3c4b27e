"""What studies found of each difference: its interval over seeds and sentences, and whether it stands many tests."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportGeneralTypeIssues=false

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from crosslens.errors import RequestError
from crosslens.runs.store import is_store

LEVEL = 0.05
"""A difference is marked where q, its p-value after Benjamini & Hochberg (1995) over the study, is below."""

Tested = dict[tuple[str, str, str, str], "Finding"]
"""(task, source, corpus, condition) -> what was found."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a study's summary says of a score, or of a difference to the reference.

    Attributes:
        low: lower end of the 95 % interval over seeds and sentences, in points.
        high: upper end.
        marked: whether q is below `LEVEL`; never of a reference.
    """

    low: float
    high: float
    marked: bool


def read_tested(paths: Iterable[str | Path]) -> Tested:
    """The summaries of the finished studies in stores of runs.

    Args:
        paths: folders; those that are no stores are passed over.

    Raises:
        RequestError: when there is none.
    """
    import pandas as pd

    found: Tested = {}
    files = [file for path in map(Path, paths) if is_store(path) for file in sorted(path.glob("studies/*/summary.csv"))]
    for file in files:
        frame = pd.read_csv(file)
        several = frame["selection"].nunique() > 1
        for row in frame.to_dict("records"):
            condition = f"{row['condition']}, {row['selection']}" if several else row["condition"]
            reference = row["condition"] == "reference"
            ends = ("low", "high") if reference else ("delta_low", "delta_high")
            key = (row["task"], row["source"], row["corpus"], condition)
            found[key] = Finding(row[ends[0]], row[ends[1]], not reference and row["q"] < LEVEL)
    if not found:
        raise RequestError(
            "no finished study here has intervals", hint="they are in the store that `crosslens run --out` made"
        )
    return found
