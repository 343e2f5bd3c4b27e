"""Similarity of every layer of one encoder with every layer of another: tables and heat maps."""

from collections.abc import Mapping, Sequence

from crosslens.errors import RequestError
from crosslens.report.blocks import cautions_ending
from crosslens.report.layers.by_layer import (
    Line,
    data_ending,
    means_over_pairs,
    measures_of,
    sentences_of,
    similarity_lines,
    with_baselines,
    without_mean,
)
from crosslens.report.table import Notes, Row, Table, cell_of
from crosslens.results import cells
from crosslens.results.cells import with_target_layers
from crosslens.results.chart import DARK, Chart, alt, heat_map, styled
from crosslens.results.record import Results, concatenated
from crosslens.tasks.titles import at_the_start, metric_name

COMPARISON = ("encoder", "task", "run", "condition", "state", "settings", "corpus", "source", "target", "measure")
"""Columns that name a comparison of two encoders in one language pair."""


def layer_by_layer(results: Results) -> dict[str, Table]:
    """Measure -> table of similarity by layer of the first language's encoder (rows) and of the second's (columns)."""
    across = between_layers(results)
    tables = {}
    for measure in measures_of(across):
        lines = grids(across, measure)
        caption = (
            f"{at_the_start(metric_name(measure))} of {sentences_of(lines)}, by {_sides(lines, 'first')} (rows) and"
            f" {_sides(lines, 'second')} (columns; 0: embeddings){with_baselines(lines)}.{without_mean(lines)}"
            f"{data_ending(across.filter(measure=measure))}{cautions_ending(across)}"
        )
        notes = Notes()
        columns = sorted({target for line in lines for _, target in line.by_layer})
        groups = {f"{line.group}, {line.name}": _rows(line, columns, notes) for line in lines}
        if columns:
            head = tuple(map(str, columns))
            tables[measure] = Table(f"layer-by-layer-{measure}", caption, head, groups, tuple(notes.texts))
    return tables


SIDES = {
    (True, True): "layer of the {} language's encoder",
    (True, False): "layer for the {} language",
    (False, True): "layer of the {} encoder",
    (False, False): "layer of the encoder",
}
"""Whether a pair has two languages, and two encoders -> one side of its table."""


def _sides(lines: Sequence[Line], which: str) -> str:
    pairs = ((line.languages, line.state) for line in lines)
    kinds = dict.fromkeys((len(set(names)) > 1, state.two) for names, state in pairs if names and state)
    return " or ".join(SIDES[kind].format(which) for kind in kinds)


def _rows(line: Line, columns: Sequence[int], notes: Notes) -> tuple[Row, ...]:
    most = cells.most_seeds(line.by_layer.values())
    return tuple(
        Row(
            f"layer {layer}",
            tuple(
                cell_of(line.by_layer.get((layer, target), cells.EMPTY), "similarity", notes, most=most)
                for target in columns
            ),
            "beside" if line.baseline else "plain",
            line.languages[1] if line.languages else None,
        )
        for layer in sorted({layer for layer, _ in line.by_layer})
    )


def between_layers(results: Results) -> Results:
    """Select the comparisons that include a pair of different layers, or of layers in encoders of different depth."""
    compared = [block for _, block in results.filter(metric="similarity").groups(*COMPARISON)]
    return with_target_layers(
        concatenated(block for block in compared if block.records["target_layer"].null_count < len(block))
    )


def grids(across: Results, measure: str) -> list[Line]:
    """One line per language pair, state and kind of sentence pairs, with a cell for each pair of layers.

    The mean over language pairs comes first.

    Args:
        across: from `between_layers`.
        measure: name of a measure, without the suffix of a baseline.
    """
    lines = similarity_lines(across, measure, columns=("layer", "target_layer"))
    return [*means_over_pairs(lines), *lines]


def layer_maps(results: Results) -> Chart:
    """Heat maps of similarity by layer of both encoders: a row for each language pair, a column for each state."""
    lines = [line for line in grids(between_layers(results), "cka") if not line.baseline]
    if not lines:
        raise RequestError("these results contain no similarity of different layers")
    states = dict.fromkeys(line.label for line in lines)
    return styled(alt.concat(*map(_map, lines), columns=len(states)))


def _map(line: Line) -> Chart:
    rows: Sequence[Mapping] = [
        {"layer": layer, "target": target, "value": cell.mean}
        for (layer, target), cell in line.by_layer.items()
        if cell.mean is not None
    ]
    names = line.languages or ("first language", "second language")
    if len(set(names)) == 1:  # two encoders read the same sentences, or one does
        names = ("first encoder", "second encoder") if line.state and line.state.two else ("", "")
    first, second = (", ".join(filter(None, ("layer", name))) for name in names)
    return heat_map(
        rows,
        x=alt.X("target:O", title=second, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("layer:O", title=first, sort="descending"),
        colour=alt.Color("value:Q", title="CKA", scale=alt.Scale(scheme="blues", domain=[0, 1])),
        dark=alt.datum.value > DARK,
        formats={"value": ".2f"},
        width=28,
        title=[line.group, line.label],
    )
