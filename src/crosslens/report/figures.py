"""The papers' figures from records, as files."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from crosslens.data.chart import (
    COLOURS,
    differences,
    grammar,
    heat_map,
    largest,
    layer_axis,
    similarity_chart,
    styled,
)
from crosslens.data.records import Results
from crosslens.errors import RequestError
from crosslens.report.tables import main_metric
from crosslens.similarity.transfer import correlations

if TYPE_CHECKING:
    import altair

FORMATS = ("pdf", "svg", "png")
PIXELS = 200
"""An inch, of a .png."""


def write_figures(results: Results, folder: str | Path) -> list[str]:
    """Write every figure that the records fill as .pdf, .svg and .png.

    The same records give the same bytes, but for the order of objects within a .pdf.

    Args:
        results: of a study, or put together.
        folder: where to.

    Returns:
        Their names.

    Raises:
        RequestError: when altair is not installed.
    """
    charts = all_figures(results)
    import vl_convert

    for name, chart in charts.items():
        svg = _renumbered(vl_convert.vegalite_to_svg(chart.to_json()))  # laid out once, whatever the format
        path = Path(folder)
        (path / f"{name}.svg").write_text(svg, "utf-8")
        (path / f"{name}.pdf").write_bytes(vl_convert.svg_to_pdf(svg))
        (path / f"{name}.png").write_bytes(vl_convert.svg_to_png(svg, ppi=PIXELS))
    return list(charts)


def _renumbered(svg: str) -> str:
    """Gradients and clips numbered from 0: Vega counts on from picture to picture."""
    names = dict.fromkeys(re.findall(r"\b(?:gradient_|clip)\d+\b", svg))
    places = {name: f"{name.rstrip('0123456789')}{place}" for place, name in enumerate(names)}
    return re.sub(r"\b(?:gradient_|clip)\d+\b", lambda found: places[found[0]], svg)


def all_figures(results: Results) -> "dict[str, altair.TopLevelMixin]":
    """Name -> chart, for every figure that the records fill.

    Raises:
        RequestError: when altair is not installed.
    """
    grammar()
    makers: Mapping[str, Callable[[Results], altair.TopLevelMixin]] = {
        "similarity": lambda its: similarity_chart(its.to_pandas()), "layers-by-target": layers_by_target,
        "gap": gap_against_similarity, "correlation-by-layer": correlation_by_layer,
    }  # fmt: skip
    charts = {}
    for name, make in makers.items():
        try:
            charts[name] = make(results)
        except RequestError:  # these records do not fill it
            continue
    return charts


def layers_by_target(results: Results) -> "altair.ConcatChart":
    """What each set of layers costs each target: a heat map for each task, source and encoder, on one scale.

    Raises:
        RequestError: when nothing is compared with a reference.
    """
    alt = grammar()
    groups = results.groups("task", "metric", "source", "encoder")
    groups = [(key, block) for key, block in groups if key[1] is not None and key[1] == main_metric(key[0])]
    several = len({encoder for (_, _, _, encoder), _ in groups}) > 1
    maps = {}
    for (task, metric, source, encoder), block in groups:
        try:
            title = f"{task}, {metric}, source {source}" + (f", {encoder}" if several else "")
            maps[title] = differences(block.to_pandas())
        except RequestError:  # it has no reference
            continue
    if not maps:
        raise RequestError("these results compare no layers with a reference")
    widest = max(map(largest, maps.values()))
    drawn = (heat_map(found, widest=widest).properties(title=title) for title, found in maps.items())
    return styled(alt.concat(*drawn, columns=3))


def gap_against_similarity(results: Results, *, measure: str = "cka") -> "altair.FacetChart":
    """Figure 3 of Muller et al. (2021): each language's gap against its similarity, and a line of least squares.

    Raises:
        RequestError: when the records do not hold both, or too few languages.
    """
    alt = grammar()
    rows = []
    for its in correlations(results, measures=[measure]):
        title = f"{its.task}, {its.state}: ρ {its.found.value:.2f}".replace("-0", "−0")
        rows += [
            {"of": title, "language": target, "similarity": its.similarities[target], "gap": its.gaps[target]}
            for target in its.found.languages
        ]
    import pandas as pd

    base = alt.Chart(pd.DataFrame(rows)).encode(
        alt.X("similarity:Q", title=f"{measure} with the source, mean over layers", scale=alt.Scale(zero=False)),
        alt.Y("gap:Q", title="gap to the source, points"),
    )
    tip = ["language", alt.Tooltip("similarity", format=".3f"), alt.Tooltip("gap", format=".1f")]
    fit = base.transform_regression("similarity", "gap").mark_line(color="#888888", strokeDash=[4, 3])
    points = base.mark_point(filled=True, size=36, color=COLOURS[0], opacity=1).encode(tooltip=tip)
    names = base.mark_text(dx=6, align="left", fontSize=10).encode(text="language")
    chart = alt.layer(fit, points, names).properties(width=260, height=220)
    return styled(chart.facet(facet=alt.Facet("of:N", sort=None, title=None), columns=2).resolve_scale(y="independent"))


def correlation_by_layer(results: Results, *, measure: str = "cka") -> "altair.LayerChart":
    """The correlation of gap and similarity layer by layer, with its interval over languages.

    Raises:
        RequestError: when the records do not hold both, or too few languages.
    """
    alt = grammar()
    import pandas as pd

    frame = pd.DataFrame(
        {"of": f"{its.task}, {its.state}", "layer": its.layer, "value": its.found.value, "low": its.found.low,
         "high": its.found.high, "p": its.found.p, "languages": len(its.found.languages)}
        for its in correlations(results, measures=[measure], layers="each")
    )  # fmt: skip
    order = list(dict.fromkeys(frame["of"]))
    scale, legend = alt.Scale(domain=order, range=list(COLOURS)), alt.Legend(symbolOpacity=1, symbolType="stroke")
    colour = alt.Color("of:N", sort=order, title="gap, similarity", scale=scale, legend=legend)
    dash = alt.StrokeDash("of:N", sort=order, title="gap, similarity", scale=alt.Scale(domain=order))
    base = alt.Chart(frame, title="below 0: languages that are represented alike transfer better").encode(layer_axis())
    precise = [alt.Tooltip(name, format=".2f") for name in ("value", "low", "high", "p")]
    y = alt.Y("value:Q", title="Spearman's ρ", scale=alt.Scale(domain=[-1, 1]))
    band = base.mark_area(opacity=0.12).encode(alt.Y("low:Q"), alt.Y2("high:Q"), colour)
    lines = base.mark_line(point=True).encode(y, dash, colour, tooltip=["of", "layer", *precise, "languages"])
    return styled((band + lines).properties(width=420, height=240))
