"""Attention heads ablated one at a time, as maps of layers and heads."""

from typing import Any

from crosslens.errors import RequestError
from crosslens.report.conditions.heads import HeadEffects, head_effects
from crosslens.results.chart import DARK, Chart, alt, heat_map, styled
from crosslens.results.layer_profile import LIGHT
from crosslens.results.record import Results
from crosslens.tasks.titles import as_printed

LEAST = 1.0
"""Difference in points that has the deepest colour at least, so that noise does not look like an effect."""


def head_maps(results: Results) -> Chart:
    """Draw what each ablated head costs: a map for the source language beside one for the other languages.

    All have one scale of colours.
    """
    effects = [(effect, _boxes(effect)) for effect in head_effects(results)]
    values = (box["value"] for _, panels in effects for boxes in panels.values() for box in boxes)
    widest = max([LEAST, *map(abs, values)])
    scale = alt.Scale(scheme="redblue", domain=[-widest, widest], domainMid=0)
    rows = []
    for effect, panels in effects:
        layers = sorted({layer for layer, _ in effect.columns}, reverse=True)
        maps = [
            heat_map(
                boxes,
                x=alt.X(
                    "head:N",
                    sort=[str(head) for head in sorted({head for _, head in effect.columns})],
                    axis=alt.Axis(labelAngle=0, orient="top"),
                ),
                y=alt.Y("layer:N", sort=[str(layer) for layer in layers]),
                colour=alt.Color("value:Q", title=["difference", "(points)"], scale=scale),
                dark=abs(alt.datum.value) > DARK * widest,
                formats={"value": ".1f"},  # a sign of zeros would be that of what is rounded away
                width=34,
                title=name,
            )
            for name, boxes in panels.items()
        ]
        rows.append(alt.hconcat(*maps).properties(title=alt.TitleParams(as_printed(effect.title))))
    if not rows:
        raise RequestError("these results contain no model with a single ablated head and its reference")
    return styled(alt.vconcat(*rows), title={"anchor": "start", "color": LIGHT.text})


def _boxes(effect: HeadEffects) -> dict[str, list[dict[str, Any]]]:
    """Name of a map -> its boxes."""
    return {
        name: [
            {"layer": str(layer), "head": str(head), "value": mean}
            for layer, head in sorted(effect.columns)
            if (mean := effect.block.difference(keys, effect.columns[layer, head]).mean) is not None
        ]
        for name, keys in effect.block.parts()
    }
