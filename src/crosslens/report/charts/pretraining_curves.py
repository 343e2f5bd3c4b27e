"""Similarity, probes and transfer along pretraining, each as a share of its change, as lines."""

from collections import Counter
from typing import Any

import numpy as np

from crosslens.errors import RequestError
from crosslens.report.conditions.pretraining_steps import Series, series_of
from crosslens.results.chart import COLOURS, LONG, Chart, alt, inline_data, range_of_seeds, styled
from crosslens.results.record import Results

SCORES, OTHER = "zero-shot scores", "other"
"""What a line is of."""

DASHES = {SCORES: [1, 0], OTHER: [6, 3]}
"""What a line is of -> its style."""


def pretraining_curves(results: Results) -> Chart:
    """Draw how far each quantity has come from its first to its last value, by step of pretraining.

    One panel per encoder. Zero-shot scores are solid, anything else is dashed. Baselines and scores in the source
    language are left out, and so are quantities whose change may be chance; how many, the panel says. Bands show the
    lowest and highest seed; lines cross 50 % at the onsets.
    """
    measured = [each for each in series_of(results) if not each.role]
    drawn = [each for each in measured if each.onsets()]
    if not drawn:
        raise RequestError("these results contain nothing that changed over several steps of pretraining")
    encoders = list(dict.fromkeys(each.encoder for each in drawn))
    unclear = Counter(each.encoder for each in measured) - Counter(each.encoder for each in drawn)
    panels = [_panel([each for each in drawn if each.encoder == name], name, unclear[name]) for name in encoders]
    return styled(alt.concat(*panels, columns=1))


def _rows(series: Series) -> list[dict[str, Any]]:
    changes = series.changes()
    first = next(iter(series.by_step.values())).by_seed
    rows = []
    for step, cell in series.by_step.items():
        shares = [100 * (cell.by_seed[seed] - first[seed]) / changes[seed] for seed in series.seeds]
        ends = {"low": min(shares), "high": max(shares)}
        of = SCORES if series.aim else OTHER
        rows.append(
            {"what": series.name, "of": of, "step": step, "share": float(np.mean(shares)), "value": cell.mean, **ends}
        )
    return rows


def _panel(series: list[Series], encoder: str, unclear: int) -> Chart:
    rows = [row for each in series for row in _rows(each)]
    names = [each.name for each in series]
    steps = sorted({row["step"] for row in rows})
    scale = alt.Scale(type="symlog", constant=max(1, steps[1] - steps[0]), nice=False)
    axis = alt.Axis(values=_ticks(steps), format="d", labelOverlap="greedy", labelSeparation=4, labelFlush=False)
    x = alt.X("step:Q", title="step of pretraining", scale=scale, axis=axis)
    y = alt.Y("share:Q", title="percent of the final change")
    solid = {"symbolOpacity": 1, "symbolStrokeWidth": 2, **LONG}
    legend = alt.Legend(title=None, orient="bottom", columns=1, **solid)
    colour = alt.Color("what:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS)), legend=legend)
    dash = alt.StrokeDash("of:N", scale=alt.Scale(domain=list(DASHES), range=list(DASHES.values())), legend=None)
    tip = ["what:N", "step:Q", alt.Tooltip("share:Q", format=".0f"), alt.Tooltip("value:Q", format=".3f")]
    kinds = [name for name in DASHES if any(row["of"] == name for row in rows)]
    about = [f"solid: {SCORES}; dashed: anything else"] if len(kinds) > 1 else []
    bands = range_of_seeds(cell for each in series for cell in each.by_step.values())
    about += [f"bands: {bands}"] if bands else []
    about += [f"not drawn, because the change may be chance: {unclear}"] if unclear else []
    base = alt.Chart(inline_data(rows), title=alt.TitleParams(encoder, subtitle=about)).encode(x)
    half = alt.Chart(alt.InlineData(values=[{"half": 50}])).mark_rule(color="#888888").encode(alt.Y("half:Q"))
    band = base.mark_area(opacity=0.12).encode(alt.Y("low:Q"), alt.Y2("high:Q"), colour)
    lines = base.mark_line(strokeWidth=2).encode(y, colour, dash, tooltip=tip)
    return alt.layer(half, band, lines).properties(width=420, height=260)


def _ticks(steps: list[int]) -> list[int]:
    """Steps that are labelled: each about half more than the one before."""
    ticks = steps[:1]
    for step in steps[1:]:
        if step >= 1.45 * ticks[-1] or ticks[-1] == 0:
            ticks.append(step)
    return ticks
