"""Sections with curves by layer: probes, retrieval of words and sentences, and transfer of heads on one layer."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from crosslens.alignment.baselines import LEVELS
from crosslens.errors import RequestError
from crosslens.report.blocks import cautions_ending
from crosslens.report.layers.by_layer import (
    EXPLAINED,
    ORDER,
    Line,
    of_level,
    over_directions,
    probe_lines,
    retrieval_lines,
    transfer_lines,
)
from crosslens.report.sections.section import Section
from crosslens.results.record import Results
from crosslens.tasks.titles import metric_name, task_name

MEASURED = {"words": "Word translation", "sentences": "Sentence retrieval"}
"""Level of retrieval -> beginning of its heading."""

LAYERS = "layer (0: embeddings)"


def layer_curves(results: Results, tasks: Sequence[str | None]) -> list[Section]:
    """Make a section for each kind of curves by layer that the results hold.

    Args:
        tasks: task of each table of scores on the page; curves of a task show with its tables.

    Returns:
        Sections; none for records that contradict one another, which the tables report.
    """
    sections = []
    with suppress(RequestError):
        sections += _probes(results)
    for level in LEVELS:
        with suppress(RequestError):
            sections += _retrieval(results, level)
    with suppress(RequestError):
        sections += _transfer(results, tasks)
    return sections


def _probes(results: Results) -> list[Section]:
    lines = probe_lines(results)
    note = "Accuracy of linear probes that read the states of one layer."
    if any(line.baseline for line in lines):
        note += " Dashed: the same probes trained on shuffled labels, which have no relation to the states."
    return _section("probes", "Probes by layer", note, lines, axis="accuracy, percent", measured="true labels")


def _retrieval(results: Results, level: str) -> list[Section]:
    # Static word vectors have no layers, and no curve.
    lines = [line for line in retrieval_lines(results, level) if any(layer is not None for layer in line.by_layer)]
    mean = over_directions(lines)
    note = f"Precision of nearest neighbours among translations by layer, percent{mean}.{_explained(lines)}"
    note += cautions_ending(of_level(results, level))
    return _section(level, f"{MEASURED[level]} by layer", note, lines, axis="precision, percent")


def _transfer(results: Results, tasks: Sequence[str | None]) -> list[Section]:
    sections = []
    for (task, metric), lines in transfer_lines(results).items():
        note = (
            "Score of a head trained on one fixed layer of the source language's encoder, in that language and"
            " zero-shot. States of a second encoder, where there is one, are read through a mapping."
            f"{_explained(lines)}"
        )
        tables = [place for place, other in enumerate(tasks) if other == task]
        sections += _section(
            f"transfer-by-layer-{task}",
            f"Transfer by layer, {task_name(task)}",
            note,
            lines,
            axis=f"{metric_name(metric)}, points",
            tables=tables or None,
        )
    return sections


def _explained(lines: Sequence[Line]) -> str:
    shown = dict.fromkeys(line.baseline for line in lines)
    words = [f"{name} ({text})" for name, text in EXPLAINED.items() if name in shown]
    return f" Baselines: {', '.join(words)}." if words else ""


def _section(
    name: str,
    title: str,
    note: str,
    lines: Sequence[Line],
    *,
    axis: str,
    measured: str = "measured",
    tables: Sequence[int] | None = None,
) -> list[Section]:
    """A section with one panel per group of lines; none without lines."""
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.group, line.cutoff), []).append(line)
    if not groups:
        return []
    panels = [_panel(group, cutoff, members, tables) for (group, cutoff), members in groups.items()]
    baselines = sorted({line.baseline for line in lines}, key=lambda name: (*ORDER, name).index(name))
    about: Mapping[str, Any] = {
        "axis": axis,
        "across": LAYERS,
        "each": "layer",
        "kinds": [baseline or measured for baseline in baselines],
        "styles": [ORDER.index(baseline) if baseline in ORDER else 1 for baseline in baselines],
        "views": list(dict.fromkeys(panel["view"] for panel in panels if panel["view"])),
    }
    return [Section(name, title, note, "curves", panels, about)]


def _panel(group: str, cutoff: str, lines: Sequence[Line], tables: Sequence[int] | None) -> dict[str, Any]:
    """A chart of a group; each cutoff is a view of its own."""
    languages = next((line.languages for line in lines if line.languages), None)
    layers = sorted({layer for line in lines for layer in line.by_layer if layer is not None})
    kinds = list(dict.fromkeys(line.baseline for line in lines))
    return {
        "title": group,
        "view": cutoff,
        "tables": tables,
        "language": languages[1] if languages and languages[0] != languages[1] else None,
        "places": layers,
        "labels": [str(layer) for layer in layers],
        "lines": [
            {"name": line.label, "kind": line.baseline, "values": [_mean(line, layer) for layer in layers]}
            for kind in kinds
            for line in lines
            if line.baseline == kind
        ],
    }


def _mean(line: Line, layer: int) -> float | None:
    cell = line.by_layer.get(layer)
    return cell.mean if cell is not None else None
