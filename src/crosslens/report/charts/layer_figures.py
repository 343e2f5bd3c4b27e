"""Figures by layer: word and sentence retrieval, transfer through a mapping, and similarity of each language pair."""

import math
import textwrap
from collections.abc import Sequence
from contextlib import suppress

from crosslens.alignment.baselines import LEVELS
from crosslens.errors import RequestError
from crosslens.formatting import right_to_left
from crosslens.report.layers.by_layer import ORDER, Line, retrieval_lines, similarity_lines, transfer_lines
from crosslens.results.chart import (
    COLOURS,
    DARK,
    LONG,
    SENTENCE_PAIRS,
    Chart,
    alt,
    heat_map,
    inline_data,
    layer_axis,
    similarity_curves,
    similarity_style,
    styled,
)
from crosslens.results.record import Results
from crosslens.tasks.titles import metric_name

MEASURED = "measured"
"""Legend entry of measurements, as opposed to baselines."""

DASHES = [[1, 0], [6, 3], [2, 2], [1, 4], [8, 2, 2, 2]]
"""Line styles of measurements and of each baseline, in their order."""

ACROSS = 6
"""Panels beside one another, at most."""

MOST = 60
"""Panels of a figure with several source languages, at most: more are a figure for each source language."""

WRAPPED = 24
"""Letters of a panel's title in one line."""


def layer_figures(results: Results) -> dict[str, Chart]:
    """Name -> figure, of everything but scores that has a value for each layer.

    ``words`` and ``sentences``: Figures 4 and 6 of Conneau, Wu et al. (2020); ``transfer-by-layer-TASK``: Figure 5;
    ``similarity-by-pair``: the heat map of Figure 7; ``similarity-by-language``: Figures 1, 2 and 4 to 8 of Muller et
    al. (2021); with many pairs, ``similarity-by-language-SOURCE``.
    """
    charts: dict[str, Chart] = {}
    for level in LEVELS:
        with suppress(RequestError):  # records that contradict one another; the tables say so
            if lines := retrieval_lines(results, level):
                charts[level] = curves(lines, axis="precision, percent")
    with suppress(RequestError):
        for (task, metric), lines in transfer_lines(results).items():
            charts[f"transfer-by-layer-{task}"] = curves(lines, axis=f"{metric_name(metric)}, points")
    with suppress(RequestError):  # no similarity of translations
        pairs = similarity_lines(results.filter(metric="similarity", target_layer=None), "cka")
        charts["similarity-by-pair"] = similarity_by_pair(pairs)
        charts |= similarity_figures(pairs)
    return charts


def curves(lines: Sequence[Line], *, axis: str) -> Chart:
    """A panel for each group, a colour for each encoder, a line style for each baseline.

    Args:
        axis: title of the vertical axis.

    Raises:
        RequestError: when none of the lines has a layer, as of static word vectors.
    """
    lines = [line for line in lines if any(layer is not None for layer in line.by_layer)]
    if not lines:
        raise RequestError("these results have no value of a layer")
    styles = dict(zip([MEASURED, *ORDER[1:]], DASHES, strict=True))
    order = [name for name in styles if name in {line.baseline or MEASURED for line in lines}]
    highest = max(cell.mean or 0.0 for line in lines for cell in line.by_layer.values())
    of_panel: dict[str, list[str]] = {}
    for line in lines:
        of_panel.setdefault(line.title, []).append(line.label)
    alike = len({tuple(dict.fromkeys(labels)) for labels in of_panel.values()}) == 1
    dash = alt.StrokeDash(
        "baseline:N",
        sort=order,
        scale=alt.Scale(domain=order, range=[styles[name] for name in order]),
        title=None,
        legend=alt.Legend(orient="bottom", direction="horizontal", **LONG),
    )
    width = alt.condition(alt.datum.baseline == MEASURED, alt.value(2.2), alt.value(1.2))
    panels = []
    for title in of_panel:
        rows = [
            {"encoder": line.label, "baseline": line.baseline or MEASURED, "layer": layer, "value": cell.mean}
            for line in lines
            for layer, cell in line.by_layer.items()
            if line.title == title and layer is not None and cell.mean is not None
        ]
        encoders = list(dict.fromkeys(row["encoder"] for row in rows))
        scale = alt.Scale(domain=encoders, range=list(COLOURS))
        legend = alt.Legend(symbolOpacity=1, symbolType="stroke", orient="bottom", columns=1, labelLimit=200)
        base = alt.Chart(inline_data(rows), title=title).encode(
            layer_axis(),
            alt.Y("value:Q", title=axis, scale=alt.Scale(domain=[0, highest], nice=True)),
            alt.Color("encoder:N", sort=encoders, title=None, scale=scale, legend=legend),
            tooltip=["encoder:N", "baseline:N", "layer:Q", alt.Tooltip("value:Q", format=".1f")],
        )
        points = base.mark_point(filled=True, size=14, opacity=1)  # without which a single layer would not be seen
        lines_of = base.mark_line().encode(dash, strokeWidth=width)
        panels.append((lines_of + points).properties(width=165, height=140))
    return styled(alt.concat(*panels, columns=3).resolve_scale(color="shared" if alike else "independent"))


def similarity_by_pair(lines: Sequence[Line]) -> Chart:
    """Similarity of translations: a heat map of language pairs and layers for each state of the encoders."""
    shown = [(line, line.state) for line in lines if line.state and not line.baseline]
    if not shown:
        raise RequestError("these results contain no similarity of translations")
    maps = []
    for text in dict.fromkeys(state.described for _, state in shown):
        rows = [
            {
                "pair": f"{line.group}, {state.encoder}" if state.encoder else line.group,
                "layer": layer,
                "value": cell.mean,
            }
            for line, state in shown
            for layer, cell in line.by_layer.items()
            if state.described == text and cell.mean is not None
        ]
        maps.append(
            heat_map(
                rows,
                x=alt.X("layer:O", title="layer (0: embeddings)", axis=alt.Axis(labelAngle=0)),
                y=alt.Y("pair:N", sort=list(dict.fromkeys(row["pair"] for row in rows)), title=None),
                colour=alt.Color("value:Q", title="CKA", scale=alt.Scale(scheme="blues", domain=[0, 1])),
                dark=alt.datum.value > DARK,
                formats={"value": ".2f"},
                width=34,
                title=text,
            )
        )
    return styled(alt.concat(*maps, columns=2))


def similarity_figures(lines: Sequence[Line]) -> dict[str, Chart]:
    """Name -> figure of similarity by language pair; many pairs are a figure for each source language."""
    name, by_source = "similarity-by-language", dict[str, list[Line]]()
    for line in lines:
        if line.languages and len(set(line.languages)) > 1:
            by_source.setdefault(line.languages[0], []).append(line)
    if len({line.group for of_source in by_source.values() for line in of_source}) <= MOST:
        return {name: similarity_by_language(lines)}
    charts = {}
    for source, of_source in by_source.items():
        with suppress(RequestError):  # baselines alone
            charts[name if len(by_source) == 1 else f"{name}-{source}"] = similarity_by_language(of_source)
    return charts


def similarity_by_language(lines: Sequence[Line]) -> Chart:
    """Similarity of translations by layer: a panel for each language pair, a line for each state of the encoders.

    The title names the axes. Lines of unrelated sentences matched in length are dotted; what lies above them is more
    than sentence length.

    Args:
        lines: from `similarity_lines`; the panels stand in their order.
    """
    kinds = [SENTENCE_PAIRS[""], SENTENCE_PAIRS["_length_matched"]]
    rows: dict[str, list[dict]] = {}
    for line in lines:
        kind = line.baseline or SENTENCE_PAIRS[""]
        if line.state and line.languages and len(set(line.languages)) > 1 and kind in kinds:
            rows.setdefault(line.group, []).extend(
                {"encoder": line.state.name, "sentences": kind, "layer": layer, "value": cell.mean}
                for layer, cell in line.by_layer.items()
                if cell.mean is not None
            )
    rows = {pair: points for pair, points in rows.items() if any(row["sentences"] == kinds[0] for row in points)}
    if not rows:
        raise RequestError("these results contain no similarity of translations between two languages")
    sources = {line.languages[0] for line in lines if line.languages and line.group in rows}
    targets = {line.group: line.languages[1] for line in lines if line.languages}
    names = {pair: targets[pair] if len(sources) == 1 else pair for pair in rows}
    points = [row for panel in rows.values() for row in panel]
    names_of, kinds_of = (list(dict.fromkeys(row[name] for row in points)) for name in ("encoder", "sentences"))
    style = similarity_style(names_of, kinds_of, orient="bottom", direction="vertical", columns=2)
    is_single = len({row["layer"] for row in points}) == 1
    across = math.ceil(len(rows) / math.ceil(len(rows) / ACROSS))
    values = [0.0, *(row["value"] for row in points)]
    scale = alt.Scale(domain=[min(values), max(values)])
    panels = []
    for pair, panel in rows.items():
        y = alt.Y("value:Q", title=None, scale=scale, axis=alt.Axis(tickCount=5))
        base = alt.Chart(inline_data(panel), title=_wrapped(names[pair])).encode(layer_axis().title(None))
        curves = similarity_curves(base, y, style, size=14, is_single=is_single)
        panels.append(alt.layer(*curves).properties(width=140, height=120))
    # The axes of all panels are named once, because `printed` may set fewer panels side by side.
    title = f"CKA of translations{f' from {sources.pop()}' if len(sources) == 1 else ''} by layer (0: embeddings)"
    return styled(alt.concat(*panels, columns=across, title=title))


def _wrapped(title: str) -> list[str]:
    """Break a long title at spaces; right-to-left text stays whole because SVG reorders words across lines."""
    if right_to_left(title):
        return [title]
    return textwrap.wrap(title, WRAPPED, break_long_words=False)
