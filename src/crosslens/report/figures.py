"""The papers' figures from records, as files."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

import json
import re
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from crosslens.errors import RequestError
from crosslens.report.tables import main_metric
from crosslens.results.chart import (
    COLOURS,
    differences,
    encoder_states,
    grammar,
    heat_map,
    largest,
    layer_axis,
    similarity_chart,
    styled,
)
from crosslens.results.record import Results
from crosslens.results.table import values_by_seed
from crosslens.similarity.transfer import OVERLAPS, Correlated, correlations

if TYPE_CHECKING:
    import altair

FORMATS = ("pdf", "svg", "png")
PIXELS = 200
"""An inch, of a .png."""


def write_figures(results: Results, folder: str | Path) -> list[str]:
    """Write every figure that the records fill as .pdf, .svg and .png.

    The same records give the same bytes.

    Args:
        results: of a study, or put together.
        folder: where to.

    Returns:
        Their names.

    Raises:
        RequestError: when altair is not installed.
    """
    charts = all_figures(results)
    import pikepdf
    import vl_convert

    for name, chart in charts.items():
        svg = _renumbered(vl_convert.vegalite_to_svg(chart.to_json()))  # laid out once, whatever the format
        path = Path(folder)
        (path / f"{name}.svg").write_text(svg, "utf-8")
        with pikepdf.open(BytesIO(vl_convert.svg_to_pdf(svg))) as pdf:  # whose objects stand in any order
            pdf.save(path / f"{name}.pdf", deterministic_id=True)
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
        "seeds": by_seed, "gap": gap_against_similarity, "correlation-by-layer": correlation_by_layer,
        "overlap": gap_against_overlap, "probes": probes_by_layer,
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


def by_seed(results: Results) -> "altair.FacetChart":
    """Every seed a point: the mean score of a task in other languages, by what was done to the encoder.

    Raises:
        RequestError: when no run was repeated with another seed.
    """
    alt = grammar()
    import pandas as pd

    rows = []
    for (task, metric, source, encoder), block in results.groups("task", "metric", "source", "encoder"):
        if metric is None or metric != main_metric(task):
            continue
        values = values_by_seed(block.to_pandas(), compared="nothing")
        others = values[values.index.get_level_values("target") != source]
        means = others.groupby(level="seed").mean()
        title = ", ".join(filter(None, (str(task), str(metric), f"from {source}", str(encoder))))
        rows += [
            {"of": title, "condition": str(name), "seed": str(seed), "value": value}
            for name, its in means.items()
            for seed, value in its.dropna().items()
        ]
    frame = pd.DataFrame(rows, columns=["of", "condition", "seed", "value"])
    if frame["seed"].nunique() < 2:
        raise RequestError("every run of these results has the same seed")
    order = list(dict.fromkeys(frame["condition"]))
    base = alt.Chart(frame).encode(
        alt.X("condition:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40)),
        alt.Y("value:Q", title="mean over other languages, points", scale=alt.Scale(zero=False)),
    )
    tip = ["condition", "seed", alt.Tooltip("value", format=".2f")]
    points = base.mark_point(filled=True, size=40, opacity=0.75, color=COLOURS[0]).encode(tooltip=tip)
    means = base.mark_tick(thickness=2, color="#444444").encode(y="mean(value):Q")
    chart = alt.layer(means, points).properties(width=alt.Step(34), height=220)
    facet = alt.Facet("of:N", sort=None, title=None)
    return styled(chart.facet(facet=facet, columns=3).resolve_scale(x="independent", y="independent"))


def gap_against_similarity(results: Results, *, measure: str = "cka") -> "altair.FacetChart":
    """Figure 3 of Muller et al. (2021): each language's gap against its similarity, and a line of least squares.

    Raises:
        RequestError: when the records do not hold both, or too few languages.
    """
    rows = []
    for its in correlations(results, measures=[measure]):
        rows += _languages(its, f"{its.called}, {its.state}: ρ {its.found.value:.2f}")
    return _gaps(rows, f"{measure} with the source, mean over layers")


def gap_against_overlap(results: Results) -> "altair.FacetChart":
    """Figure 3 of Wu & Dredze (2019), with the gap for the score: the share of subwords that training saw.

    Raises:
        RequestError: when the records do not hold both, or too few languages.
    """
    rows = []
    for its in correlations(results, measures=OVERLAPS, coefficient="pearson"):
        what = its.measure.removeprefix("overlap_")
        rows += _languages(its, f"{its.called}, {what}: r {its.found.value:.2f}, p {its.found.p:.3f}")
    return _gaps(rows, "subwords that the source's training data have, percent")


def _languages(its: Correlated, title: str) -> list[dict]:
    return [
        {"of": title.replace("-0", "−0"), "language": target, "similarity": its.similarities[target],
         "gap": its.gaps[target]}
        for target in its.found.languages
    ]  # fmt: skip


def probes_by_layer(results: Results) -> "altair.FacetChart":
    """Figure 2 of Wu & Dredze (2019): what a linear layer can tell from each layer, and from shuffled answers.

    Raises:
        RequestError: when the records hold no probe.
    """
    alt = grammar()
    frame = results.to_pandas()
    asked = frame["measure"].fillna("").str.startswith("probe ") & frame["target"].isna()
    frame = frame[asked & frame["metric"].isin(["accuracy", "accuracy_shuffled"])]
    if frame.empty:
        raise RequestError("these results hold no probe")
    answers = {"accuracy": "right answers", "accuracy_shuffled": "shuffled answers"}
    tags = [json.loads(text) for text in frame["tags"]]
    frame = frame.assign(
        answers=frame["metric"].map(answers), inputs=[its.get("inputs", "") for its in tags],
        state=encoder_states(frame),
    )  # fmt: skip
    frame = frame.assign(encoder=frame["state"] + ", " + frame["inputs"] + " inputs")[
        ["measure", "encoder", "answers", "layer", "value", "low", "high"]
    ]
    order = list(dict.fromkeys(frame["encoder"]))
    solid = alt.Legend(symbolOpacity=1, symbolType="stroke", symbolStrokeWidth=2)
    black = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolStrokeColor="black")
    scale = alt.Scale(domain=order, range=list(COLOURS))
    colour = alt.Color("encoder:N", sort=order, scale=scale, legend=solid)
    dash = alt.StrokeDash("answers:N", sort=list(answers.values()), legend=black)
    base = alt.Chart(frame).encode(layer_axis())
    y = alt.Y("value:Q", title="accuracy, percent", scale=alt.Scale(domain=[0, 100]))
    tip = ["encoder", "answers", "layer", *(alt.Tooltip(name, format=".1f") for name in ("value", "low", "high"))]
    lines = base.mark_line(point=True, strokeWidth=2).encode(y, colour, dash, tooltip=tip)
    band = base.mark_area(opacity=0.15).encode(alt.Y("low:Q"), alt.Y2("high:Q"), colour, alt.Detail("answers:N"))
    chart = alt.layer(band, lines).properties(width=380, height=240)
    return styled(chart.facet(facet=alt.Facet("measure:N", title=None), columns=2))


def _gaps(rows: list[dict], title: str) -> "altair.FacetChart":
    """Each language's gap against a quantity, and a line of least squares."""
    alt = grammar()
    import pandas as pd

    base = alt.Chart(pd.DataFrame(rows)).encode(
        alt.X("similarity:Q", title=title, scale=alt.Scale(zero=False)),
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
        {"of": f"{its.called}, {its.state}", "layer": its.layer, "value": its.found.value, "low": its.found.low,
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
