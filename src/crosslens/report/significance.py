"""Confidence intervals and tests of table cells, from the summaries of studies or from records."""

import csv
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from crosslens.errors import RequestError
from crosslens.results.cells import Cell, without_digest
from crosslens.results.record import Results
from crosslens.runs.store import is_store
from crosslens.scores.intervals import LEVEL
from crosslens.studies.record_summary import summarise_records

KEY = ("study", "encoder", "task", "metric", "corpus", "partner", "condition")
"""Columns of a summary that name a number. The source is left out: a study may call it otherwise than its language, and
the training data tell sources apart. Corpora have no digest behind their name: which of them have one depends on the
records that are shown together, and the number itself tells them apart."""

CLOSE = 1e-6
"""How far a study's number may be from ours, in points, to be the same."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Confidence interval and test of a score, or of a difference to the reference.

    Attributes:
        low: lower end of the 95 % interval, in points.
        high: upper end.
        marked: whether q is below `LEVEL`; never of a score.
        over: what it is over, as `crosslens.scores.intervals.Over` names it.
    """

    low: float
    high: float
    marked: bool
    over: str

    def agrees(self, other: "Interval") -> bool:
        """Whether another one says the same, except for rounding errors."""
        ends = zip((self.low, self.high), (other.low, other.high), strict=True)
        alike = all(math.isclose(end, other_end, abs_tol=CLOSE) for end, other_end in ends)
        return alike and (self.marked, self.over) == (other.marked, other.over)


@dataclass(frozen=True, slots=True)
class Significance:
    """Summaries of finished studies, or of records.

    Attributes:
        rows: values of `KEY` -> the rows of the summaries that have them.
    """

    rows: Mapping[tuple[str, ...], Sequence[Mapping[str, str]]]

    def find(
        self,
        cell: Cell,
        key: Mapping[str, str | None],
        *,
        is_difference: bool,
        trains: Collection[str | None],
        selections: Collection[str | None],
    ) -> Interval | None:
        """Find the interval of a cell, in a study that contains all of its records and the same number.

        Args:
            cell: a mean over seeds.
            key: values of `KEY` but the study.
            is_difference: whether it is a difference to the reference.
            trains: what its models were trained on.
            selections: the rules that selected their weights.

        Returns:
            None where no study has it, or where several say different things of it.
        """
        names = ("delta", "delta_low", "delta_high") if is_difference else ("mean", "low", "high")
        intervals: list[Interval] = []
        for study in sorted(cell.studies or {""}):
            for row in self.rows.get(_named({**key, "study": study}), ()):
                value, low, high = (_number(row[name]) for name in names)
                same = value is not None and cell.mean is not None and math.isclose(value, cell.mean, abs_tol=CLOSE)
                ours = (row["train"] or None) in trains and (row["selection"] or None) in selections
                if same and ours and low is not None and high is not None:
                    q = _number(row["q"]) if is_difference else None
                    untested = is_difference and q is None  # one seed is compared, if the score has more
                    over = "sentences" if untested else row["interval"]
                    intervals.append(Interval(low, high, q is not None and q < LEVEL, over))
        return intervals[0] if intervals and all(map(intervals[0].agrees, intervals)) else None


def read_significance(paths: Iterable[str | Path]) -> Significance:
    """Read the summaries of finished studies in stores of runs.

    Args:
        paths: folders; those that are no stores are skipped.

    Raises:
        RequestError: when there is none.
    """
    stores = filter(is_store, map(Path, paths))
    files = (file for folder in stores for file in sorted(folder.glob("studies/*/summary.csv")))
    hint = "give the store that `crosslens run --out` wrote"
    absent = RequestError("no finished study here has intervals", hint=hint)
    return _significance([file.read_text("utf-8") for file in files], absent)


def significance_of(results: Results) -> Significance:
    """Intervals and tests from records alone, whose differences are not paired by sentence.

    Args:
        results: records (`crosslens.studies.record_summary`).

    Raises:
        RequestError: when no score has an interval.
    """
    absent = RequestError("these results have no scores with intervals", hint="evaluate the models again")
    return _significance([summarise_records(results).to_csv(index=False)], absent)


def _significance(summaries: Iterable[str], absent: RequestError) -> Significance:
    """Read summaries; those that do not say what their intervals are over have tests of another kind."""
    rows: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in (row for summary in summaries for row in csv.DictReader(StringIO(summary, newline=""))):
        if {*KEY, "interval"} <= row.keys():
            rows.setdefault(_named(row), []).append(row)
    if not rows:
        raise absent
    return Significance(rows)


def _named(row: Mapping[str, str | None]) -> tuple[str, ...]:
    """Values of `KEY`."""
    named = {name: row[name] or "" for name in KEY}
    return tuple({**named, "corpus": without_digest(named["corpus"])}.values())


def _number(text: str) -> float | None:
    """Parse a number of a summary; None if it is missing."""
    value = float(text) if text else math.nan
    return None if math.isnan(value) else value
