"""Section with curves of scores by number of training sentences."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from crosslens.errors import RequestError
from crosslens.report.learning_curves import Curve, caption, curves_by_panel, learning_curves
from crosslens.report.sections.section import Section
from crosslens.results.record import Results
from crosslens.tasks.titles import as_printed


def amount_curves(results: Results, tasks: Sequence[str | None]) -> list[Section]:
    """Make a chart for each test corpus on which models trained on several amounts of data were tested.

    Args:
        results: sorted results.
        tasks: task of each table of scores on the page; curves of a task show with its tables.
    """
    curves: list[Curve] = []
    with suppress(RequestError):  # records that contradict one another, which the tables report
        curves = learning_curves(results)
    panels = [_panel(title, of_panel, tasks) for title, of_panel in curves_by_panel(curves).items()]
    about = {
        "axis": "score, points",
        "across": "training sentences",
        "each": "training sentences",
        "kinds": ["score"],
        "styles": [0],
        "views": [],
    }
    return [Section("learning-curves", "Learning curves", caption(curves), "curves", panels, about)] if panels else []


def _panel(title: str, curves: Sequence[Curve], tasks: Sequence[str | None]) -> dict[str, Any]:
    amounts = sorted({amount for curve in curves for amount in curve.by_amount})
    return {
        "title": as_printed(title),
        "view": "",
        "tables": [place for place, task in enumerate(tasks) if task == curves[0].task],
        "language": None,
        "labels": [f"{amount:,}" for amount in amounts],
        "lines": [
            {
                "name": curve.label,
                "values": [curve.by_amount[amount].mean if amount in curve.by_amount else None for amount in amounts],
            }
            for curve in curves
        ],
    }
