"""Easy, intermediate and hard languages (Muller 2022): is the encoder better than a network without pretraining?

Easy: as it is. Intermediate: only when it was adapted to raw text of the language. Hard: in neither case. The slides
compare means; here every comparison is tested over seeds and sentences, and where a test that the class hangs on finds
no difference the language is undecided.
"""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from crosslens.scores.crossed import Crossed, crossed

if TYPE_CHECKING:
    import pandas

Class = Literal["easy", "intermediate", "hard", "undecided"]

LEVEL = 0.05
"""Of the tests, after Benjamini & Hochberg (1995) over all of a table."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a language was measured on.

    Attributes:
        task: the task.
        train: the training data.
        corpus: the test data.
    """

    task: str
    train: str
    corpus: str


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """Scores of one cell, ``(seeds, sentences)`` in points from `crosslens.scores.crossed.linearised`, seeds in order.

    Attributes:
        encoder: fine-tuned as it is.
        adapted: fine-tuned after it was adapted to raw text; None: not measured.
        baseline: a network without pretraining, trained on the same data.
        scratch: a monolingual encoder pretrained on that raw text alone; None: not measured. It decides nothing.
    """

    encoder: np.ndarray
    adapted: np.ndarray | None
    baseline: np.ndarray
    scratch: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What the slides say of a language."""

    name: str
    script: str
    family: str
    sentences: str
    published: str


@cache
def known_languages() -> dict[str, Known]:
    """The languages of the slides, by their tags."""
    file = resources.files("crosslens.unseen") / "languages.csv"
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {row.pop("tag"): Known(row.pop("name"), published=row.pop("class"), **row) for row in csv.DictReader(lines)}


def difference(a: np.ndarray, b: np.ndarray) -> Crossed:
    """What a is better than b, on the same seeds and sentences; seeds that only one has are left out."""
    seeds = min(len(a), len(b))
    return crossed(a[:seeds] - b[:seeds])


def classify(as_it_is: tuple[float, float], adapted: tuple[float, float] | None, *, level: float = LEVEL) -> Class:
    """The class of a language.

    Args:
        as_it_is: points that the encoder is better than the baseline, and the p-value of that.
        adapted: the same of the adapted encoder; None: not measured.
        level: p-values from here on decide nothing.
    """
    better, p = as_it_is
    if p >= level:
        return "undecided"
    if better > 0:
        return "easy"
    if adapted is None or adapted[1] >= level:
        return "undecided"
    return "intermediate" if adapted[0] > 0 else "hard"


def typology(cells: Mapping[Cell, Measurements]) -> "pandas.DataFrame":
    """A row a cell: means in points, differences to the baseline with their q-values, and the class.

    ``class`` is decided by tests; ``by means`` is the slides' rule, which has no undecided class.
    """
    import pandas as pd

    tests: list[Crossed] = []
    for its in cells.values():
        tests.append(difference(its.encoder, its.baseline))
        if its.adapted is not None:
            tests.append(difference(its.adapted, its.baseline))
    q = iter(stats.false_discovery_control([test.p for test in tests]) if tests else [])
    found = iter(tests)
    rows = []
    for cell, its in cells.items():
        first = (next(found).mean, float(next(q)))
        second = (next(found).mean, float(next(q))) if its.adapted is not None else None
        rows.append(
            {
                "task": cell.task, "train": cell.train, "corpus": cell.corpus, "encoder": its.encoder.mean(),
                "adapted": its.adapted.mean() if its.adapted is not None else None,
                "from scratch": its.scratch.mean() if its.scratch is not None else None,
                "BiLSTM": its.baseline.mean(), "encoder - BiLSTM": first[0], "q": first[1],
                "adapted - BiLSTM": second and second[0], "q adapted": second and second[1],
                "seeds": min(len(its.encoder), len(its.baseline)), "class": classify(first, second),
                "by means": classify((first[0], 0.0), second and (second[0], 0.0)),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)
