"""Section with scatter plots of the zero-shot score against subword overlap."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from crosslens.errors import RequestError
from crosslens.formatting import plain
from crosslens.report.blocks import Block
from crosslens.report.charts.scatter import OVERLAP
from crosslens.report.sections.section import Section
from crosslens.results.cells import encoders_apart
from crosslens.results.record import Results
from crosslens.similarity.transfer_gap import Correlated, correlations
from crosslens.tasks import main_metric
from crosslens.tasks.titles import metric_name

NOTE = (
    "One point for each target language: its zero-shot score and the share of subwords in its test data that occur in"
    " the source language's training data. Types count each subword once, tokens count each occurrence. Pearson's r is"
    " over all languages."
)


def overlap_scatter(results: Results, blocks: Sequence[Block]) -> list[Section]:
    """Make Figure 3 of Wu & Dredze (2019) for each task, where the results hold scores and overlaps.

    Args:
        blocks: tables of scores of the results, in their order on the page; charts show with the table of their scores.
    """
    panels = []
    overlaps = encoders_apart(results).filter(measure=list(OVERLAP))
    for place, block in enumerate(blocks):
        with suppress(RequestError):  # too few languages, or several corpora of a language, which the tables report
            records = block.results + overlaps.filter(encoder=block.encoder, source=block.source)
            correlated = correlations(records, measures=list(OVERLAP), coefficient="pearson", outcome="score")
            panels += [_panel(each, place) for each in correlated]
    return [Section("overlap", "Score against subword overlap", NOTE, "scatter", panels, {})] if panels else []


def _panel(correlated: Correlated, place: int) -> dict[str, Any]:
    result = correlated.correlation
    value, low, high = (plain(number, decimals=2) for number in (result.value, result.low, result.high))
    known = [f"r {value}, 95 % CI {low} to {high}", f"{len(result.languages)} languages"]
    metric = metric_name(main_metric(correlated.task))
    return {
        "name": ", ".join(filter(None, (f"subword {OVERLAP[correlated.measure]}", correlated.variant))),
        "coefficient": ", ".join([*([] if correlated.undefined else known), *correlated.caveats]),
        "tables": [place],
        "x": f"shared subword {OVERLAP[correlated.measure]}, percent",
        "y": f"{metric}, points",
        "languages": list(result.languages),
        "across": [correlated.similarities[language] for language in result.languages],
        "up": [correlated.outcomes[language] for language in result.languages],
        "digits": [1, 1],
    }
