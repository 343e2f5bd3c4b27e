"""Write the figures of the papers from results."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from crosslens.errors import RequestError
from crosslens.report.atlas.ranking import encoder_panels
from crosslens.report.blocks import Block, score_blocks
from crosslens.report.charts.dose_response_curves import dose_response_curves
from crosslens.report.charts.factor_bars import factor_bars
from crosslens.report.charts.head_maps import head_maps
from crosslens.report.charts.intervention_profiles import intervention_profiles
from crosslens.report.charts.layer_figures import layer_figures
from crosslens.report.charts.pretraining_curves import pretraining_curves
from crosslens.report.charts.printed import PIXELS_PER_INCH, TEXT_WIDTH, printed, titles_in_lines
from crosslens.report.charts.scatter import gap_against_similarity, score_against_overlap
from crosslens.report.conditions.comparison import profile_intervals
from crosslens.report.conditions.interventions import before_training
from crosslens.report.conditions.pretraining_steps import last_checkpoints
from crosslens.report.correlations import names_of
from crosslens.report.layers.layer_by_layer import layer_maps
from crosslens.report.learning_curves import learning_curve_figure
from crosslens.report.overview import finite
from crosslens.report.script_pairs import script_figure
from crosslens.report.significance import Significance
from crosslens.report.typology import typology_bars
from crosslens.results.cells import encoders_apart
from crosslens.results.chart import (
    COLOURS,
    LONG,
    Chart,
    ComparedScores,
    alt,
    compared_scores,
    grammar,
    inline_data,
    layer_axis,
    score_map,
    short_label,
    similarity_chart,
    styled,
)
from crosslens.results.encoder_overlay import overlay_chart
from crosslens.results.layer_profile import LIGHT, Ink, profile_chart, profiles_by_variant
from crosslens.results.order import Order
from crosslens.results.pivot import mean_over, mean_row, parts_of, score_cells
from crosslens.results.probe_chart import probe_chart
from crosslens.results.record import Results
from crosslens.similarity.transfer_gap import correlations
from crosslens.tasks.titles import as_printed

if TYPE_CHECKING:
    import pandas

FORMATS = ("pdf", "svg", "png")
PIXELS = 200
"""Resolution of .png files, in pixels per inch."""


def write_figures(
    results: Results,
    folder: str | Path,
    *,
    sort: Order = "score",
    typology: "pandas.DataFrame | None" = None,
    significance: Significance | None = None,
    width: float = TEXT_WIDTH,
) -> list[str]:
    """Write every figure that the results fill as .pdf, .svg and .png.

    Letters are 8 points high where a figure is included without scaling. The same results give the same bytes.

    Args:
        sort: order of the languages, as in `Results.sorted`.
        typology: from `crosslens.report.typology.read_typologies`.
        significance: intervals of scores from finished studies.
        width: of the figures at most, in inches: 6.8 for the text of a page, 3.3 for a column.

    Returns:
        Their names.

    Raises:
        RequestError: when altair is not installed.
    """
    charts = all_figures(results, sort=sort, significance=significance)
    if typology is not None:
        charts["typology"] = typology_bars(typology)
    import pikepdf
    import vl_convert

    for name, chart in charts.items():
        svg = _renumbered(printed(chart, inches=width))  # laid out once, whatever the format
        in_points = _in_points(svg)
        path = Path(folder)
        (path / f"{name}.svg").write_text(svg, "utf-8")
        with pikepdf.open(BytesIO(vl_convert.svg_to_pdf(in_points))) as pdf:  # whose objects stand in any order
            pdf.save(path / f"{name}.pdf", deterministic_id=True)
        (path / f"{name}.png").write_bytes(vl_convert.svg_to_png(in_points, ppi=PIXELS))
    return list(charts)


def drawn(chart: Chart) -> str:
    """Draw a chart as SVG; the same chart gives the same text."""
    import vl_convert

    return _renumbered(vl_convert.vegalite_to_svg(chart.to_json()))


def _in_points(svg: str) -> str:
    """The same picture with its size in points: vl-convert takes pixels for points."""

    def scaled(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) * 72 / PIXELS_PER_INCH:g}"'

    head, end, rest = svg.partition(">")
    return re.sub(r'\b(width|height)="([\d.]+)"', scaled, head) + end + rest


def _renumbered(svg: str) -> str:
    """Number gradients and clips from 0; Vega continues counting across pictures."""
    names = dict.fromkeys(re.findall(r"\b(?:gradient_|clip)\d+\b", svg))
    places = {name: f"{name.rstrip('0123456789')}{place}" for place, name in enumerate(names)}
    return re.sub(r"\b(?:gradient_|clip)\d+\b", lambda match: places[match[0]], svg)


def all_figures(
    results: Results, *, sort: Order = "score", significance: Significance | None = None
) -> dict[str, Chart]:
    """Make every figure that the results fill: name -> chart."""
    grammar()
    makers: Mapping[str, Callable[[Results], Chart]] = {
        "layer-profile": partial(layer_profiles, significance=significance),
        "encoders": encoders_overlaid,
        "interventions": intervention_profiles,
        "dose-response": dose_response_curves,
        "pretraining-factors": factor_bars,
        "pretraining-steps": pretraining_curves,
        "heads": head_maps,
        "similarity": similarity_chart,
        "layers-by-target": layers_by_target,
        "seeds": by_seed,
        "gap": gap_against_similarity,
        "correlation-by-layer": correlation_by_layer,
        "overlap": score_against_overlap,
        "probes": probe_chart,
        "layer-by-layer": layer_maps,
        "scripts": script_figure,
        "learning-curves": learning_curve_figure,
    }
    charts = {}
    results = results.sorted(sort)
    last = last_checkpoints(results).sorted(sort)
    others = before_training(last)
    every_step = before_training(results)
    shown = {"interventions": last, "dose-response": last, "heads": last, "pretraining-steps": every_step}
    for name, make in makers.items():
        try:
            charts[name] = make(shown.get(name, others))
        except RequestError:  # these records do not fill it
            continue
    return charts | layer_figures(every_step)


def layer_profiles(results: Results, *, significance: Significance | None = None, ink: Ink = LIGHT) -> Chart:
    """What re-initialising each part of the encoder costs in the source language and zero-shot, one panel per task,
    source, encoder and variant of the models.

    Args:
        significance: intervals of scores from finished studies; else bars show the lowest and highest seed.
        ink: colours for a light or a dark page.
    """
    intervals = profile_intervals(results, significance) if significance else {}
    blocks = score_blocks(results)
    profiles = []
    for block in blocks:
        kind = [block.results.records[name][0].as_py() for name in ("split", "translated_from")]
        place = (block.task, block.source, block.encoder, *kind)
        with suppress(RequestError):
            title = _title(block, blocks)
            profiles += profiles_by_variant(
                block.results, source=block.source, title=title, intervals=intervals.get(place)
            )
    if not profiles:
        raise RequestError("these results contain no model with re-initialised layers and its reference")
    return profile_chart(profiles, ink=ink)


def encoders_overlaid(results: Results) -> Chart:
    """Layer profiles of several encoders, one over the other, one panel per task and source."""
    panels = {
        as_printed(panel.title(f"source {panel.source}")): panel.profiles
        for panel in encoder_panels(encoders_apart(results))
    }
    if not panels:
        raise RequestError(
            "these results contain no two encoders with re-initialised layers and a common target corpus"
        )
    return overlay_chart(panels)


def layers_by_target(results: Results) -> Chart:
    """Figure 1 of Wu & Dredze (2019), of every condition: scores by target, coloured by difference to the reference.

    One heat map per task, source, encoder and variant of the models, on one scale of colours. Models of one language
    that were tested in it only share one, with a row for each language.
    """
    maps: dict[str, ComparedScores] = {}
    blocks = score_blocks(results)
    for block in blocks:
        with suppress(RequestError):  # it has no reference
            for compared in compared_scores(block.results):
                title = ", ".join(filter(None, (_title(block, blocks, rows_name_source=True), compared.variant)))
                maps[title] = maps[title].above(compared) if title in maps else compared
    if not maps:
        raise RequestError("these results contain no condition with a reference to compare it with")
    widest = max(compared.widest for compared in maps.values())
    charts = [score_map(compared, widest=widest).properties(title=title) for title, compared in maps.items()]
    return styled(alt.concat(*charts, columns=3))


def _title(block: Block, blocks: Sequence[Block], *, rows_name_source: bool = False) -> str:
    """``POS tagging, accuracy, source en``; with the encoder where there are several.

    Args:
        rows_name_source: whether ``in-language`` says enough of a model that was tested on one corpus of its only
            language: of several there is a mean, whose row names no language.
    """
    several = len({each.encoder for each in blocks}) > 1
    targets = [target for target, *_ in score_cells(block.results).rows]
    in_language = rows_name_source and targets == [block.source] != [None]
    trained = ", ".join(filter(None, ("in-language", block.kind))) if in_language else f"source {block.source_label}"
    title = f"{block.task}, {block.metric}, {trained}"
    return as_printed(title) + (f", {block.encoder}" if several else "")


STEP = 34
"""Width of a condition, in pixels."""


def by_seed(results: Results) -> Chart:
    """Zero-shot score, a mean over the other languages, one point per seed, by task and condition."""
    rows = []
    blocks = score_blocks(results)
    for block in blocks:
        table = score_cells(block.results)
        _, cross, _ = parts_of(table, block.source)
        title = _title(block, blocks) + (f", mean of {mean_over(cross)}" if len(cross) > 1 else "")
        rows += [
            {"of": title, "condition": short_label(column), "seed": str(seed), "value": value}
            for column in table.columns
            for seed, value in mean_row(table, cross, column).by_seed.items()
        ]
    if len({row["seed"] for row in rows}) < 2:
        raise RequestError("these results contain a single seed")
    order = list(dict.fromkeys(row["condition"] for row in rows))
    base = alt.Chart(inline_data(rows)).encode(
        alt.X("condition:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40)),
        alt.Y("value:Q", title="zero-shot score, points; line: mean", scale=alt.Scale(zero=False)),
    )
    tip = ["condition:N", "seed:N", alt.Tooltip("value:Q", format=".2f")]
    points = base.mark_point(filled=True, size=40, opacity=0.75, color=COLOURS[0]).encode(tooltip=tip)
    means = base.mark_tick(thickness=2, color="#444444").encode(y="mean(value):Q")
    chart = alt.layer(means, points).properties(width=alt.Step(STEP), height=220)
    titles = list(dict.fromkeys(row["of"] for row in rows))
    header = alt.Header(labelExpr=titles_in_lines(titles, STEP * max(len(order), 3)))  # Vega cuts what is wider
    facet = alt.Facet("of:N", sort=titles, title=None, header=header)
    panels = chart.facet(facet=facet, columns=3).resolve_scale(x="independent", y="independent")
    return styled(panels)


def correlation_by_layer(results: Results) -> Chart:
    """Plot the correlation of gap and similarity by layer, with intervals over languages."""
    correlated = correlations(results, layers="each")
    rows = [
        {
            "of": f"{name}, {each.state}",
            "layer": each.layer,
            "value": each.correlation.value,
            "low": finite(each.correlation.low),
            "high": finite(each.correlation.high),
            "p": finite(each.correlation.p),
            "languages": len(each.correlation.languages),
        }
        for name, each in zip(names_of(correlated), correlated, strict=True)
        if not each.undefined
    ]
    if not rows:
        raise RequestError(f"{correlated[0].undefined}, in every layer")
    caveats = list(dict.fromkeys(caveat for each in correlated for caveat in each.caveats))
    order = list(dict.fromkeys(row["of"] for row in rows))
    scale, legend = alt.Scale(domain=order, range=list(COLOURS)), alt.Legend(symbolOpacity=1, **LONG)
    colour = alt.Color("of:N", sort=order, title="gap and similarity", scale=scale, legend=legend)
    dash = alt.StrokeDash("of:N", sort=order, title="gap and similarity", scale=alt.Scale(domain=order), legend=legend)
    bands = ["bands: 95 % intervals over languages"] if any(row["low"] is not None for row in rows) else []
    about = "below 0: languages with more similar representations transfer better"
    title = alt.TitleParams(about, subtitle=[*bands, *caveats])
    base = alt.Chart(inline_data(rows), title=title).encode(layer_axis())
    precise = [alt.Tooltip(f"{name}:Q", format=".2f") for name in ("value", "low", "high", "p")]
    y = alt.Y("value:Q", title="Spearman's ρ", scale=alt.Scale(domain=[-1, 1]))
    band = base.mark_area(opacity=0.12).encode(alt.Y("low:Q"), alt.Y2("high:Q"), colour)
    lines = base.mark_line(point=True).encode(y, dash, colour, tooltip=["of:N", "layer:Q", *precise, "languages:Q"])
    return styled((band + lines).properties(width=420, height=240))
