"""What each intervention costs the source language and other languages, by layer: a panel for each."""

from collections.abc import Sequence

from crosslens.errors import RequestError
from crosslens.report.conditions.interventions import changed_after_training
from crosslens.report.conditions.treatment_effects import treatment_effects
from crosslens.results.chart import Chart, alt, inline_data, range_of_seeds, styled
from crosslens.results.layer_profile import LIGHT, SAME, ZERO_SHOT
from crosslens.results.record import Results
from crosslens.tasks.titles import as_printed

LINES = {SAME: (LIGHT.same, LIGHT.paper, [4, 3]), ZERO_SHOT: (LIGHT.zero_shot, LIGHT.zero_shot, [1, 0])}
"""Line -> colour of it, of the inside of its marks, and its style."""

APART = 3
"""Half of the pixels between the marks of two lines at one layer, so that no bar hides another."""

ACROSS = 4
"""Panels beside one another, at most."""


def intervention_profiles(results: Results) -> Chart:
    """Draw the differences to the reference by layer, a panel for each intervention, the source beside the targets.

    A row of panels is one task, source and encoder. Bars show the lowest and highest seed. Panels have scales of their
    own, because interventions differ many times in size.
    """
    blocks = [(block, treatment_effects(block)) for block in changed_after_training(results)]
    every = [effect for _, effects in blocks for effect in effects]
    drawn = {SAME: any(effect.same for effect in every), ZERO_SHOT: any(effect.cross for effect in every)}
    rows = []
    for block, effects in blocks:
        panels = []
        for effect in effects:
            points = [
                {
                    "line": line,
                    "layers": address.replace("-", "–"),
                    "value": cell.mean,
                    "low": min(cell.by_seed.values()),
                    "high": max(cell.by_seed.values()),
                }
                for line, by_address in ((SAME, effect.same), (ZERO_SHOT, effect.cross))
                for address, cell in by_address.items()
                if cell.mean is not None
            ]
            order = [address.replace("-", "–") for address in effect.addresses]
            panels.append(_panel(points, order, effect.treatment, [line for line in LINES if drawn[line]]))
        if panels:
            means = (of_part for effect in effects for of_part in (effect.same, effect.cross))
            seeds = range_of_seeds(cell for by_address in means for cell in by_address.values())
            title = alt.TitleParams(as_printed(block.heading), subtitle=[f"bars: {seeds}"] if seeds else [])
            rows.append(alt.concat(*panels, columns=ACROSS).properties(title=title))
    if not rows:
        raise RequestError("these results contain no changed model and its reference")
    title = {"anchor": "start", "color": LIGHT.text, "subtitleFontSize": 11, "subtitleColor": LIGHT.muted}
    return styled(alt.vconcat(*rows), title=title)


def _panel(points: list[dict[str, object]], order: list[str], title: str, lines: Sequence[str]) -> Chart:
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal")
    ink, filled, dashes = (list(values) for values in zip(*(LINES[line] for line in lines), strict=True))
    base = alt.Chart(inline_data(points)).encode(
        alt.X(
            "layers:N", sort=order, title=None, scale=alt.Scale(type="point", padding=0.5), axis=alt.Axis(labelAngle=0)
        ),
        alt.Y("value:Q", title="change, points", scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=4)),
        alt.Color("line:N", sort=lines, scale=alt.Scale(domain=lines, range=ink), legend=legend),
        tooltip=["line:N", "layers:N", *(alt.Tooltip(f"{name}:Q", format="+.2f") for name in ("value", "low", "high"))],
    )
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color=LIGHT.muted).encode(alt.Y("zero:Q"))
    fill = alt.Fill("line:N", sort=lines, scale=alt.Scale(domain=lines, range=filled), legend=legend)
    shifts = [APART * (2 * place - (len(lines) - 1)) for place in range(len(lines))]
    beside = [
        base.transform_filter(alt.datum.line == line).encode(xOffset=alt.value(shift))
        for line, shift in zip(lines, shifts, strict=True)
    ]
    # Each line has a style of its own: a scale of styles would dash the rings of the legend.
    joined = [each.mark_line(strokeWidth=1.6, strokeDash=dash) for each, dash in zip(beside, dashes, strict=True)]
    bars = [each.mark_rule().encode(alt.Y("low:Q"), alt.Y2("high:Q")) for each in beside]
    marks = [each.mark_point(size=36, strokeWidth=1.6, opacity=1).encode(fill) for each in beside]
    return alt.layer(zero, *joined, *bars, *marks).properties(
        width=alt.Step(max(26, 8 * max(map(len, order)))), height=110, title=alt.TitleParams(title, anchor="middle")
    )
