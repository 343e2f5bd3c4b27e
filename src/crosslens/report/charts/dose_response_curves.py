"""Change in scores against similarity of the changed layer: a line for each intervention, a point for each dose."""

import numpy as np

from crosslens.errors import RequestError
from crosslens.report.conditions.dose_response import Doses, doses_of
from crosslens.results.chart import COLOURS, LONG, Chart, alt, inline_data, styled
from crosslens.results.layer_profile import SAME, ZERO_SHOT
from crosslens.results.record import Results
from crosslens.tasks.titles import as_printed, metric_name

LINES = {"zero-shot": ZERO_SHOT, "same language": SAME}
"""Score -> its name in the legend."""

DASHES = {ZERO_SHOT: [1, 0], SAME: [5, 3]}
"""Name in the legend -> style of its lines."""


def dose_response_curves(results: Results) -> Chart:
    """Draw the change in scores against the similarity of the changed layer, one panel per task and measure.

    Points are means over seeds, one for each dose, joined in the order of the doses through the unchanged model. If
    similarity carried transfer, the solid lines of all interventions would lie on one another.
    """
    panels: dict[str, list[dict[str, object]]] = {}
    for doses in doses_of(results):
        for measure in doses.similarity:
            title = f"{as_printed(f'{doses.task}, source {doses.source}')}, {metric_name(measure)}"
            panels.setdefault(title, []).extend(_points(doses, measure))
    if not panels:
        raise RequestError("these results contain no similarity of changed models")
    names = list(dict.fromkeys(point["intervention"] for points in panels.values() for point in points))
    scores = {point["score"] for points in panels.values() for point in points}
    dashes = {name: dash for name, dash in DASHES.items() if name in scores}
    charts = []
    for title, points in panels.items():
        wide = {"symbolOpacity": 1, "symbolStrokeWidth": 2, "orient": "bottom", **LONG}
        scale = alt.Scale(domain=names, range=list(COLOURS))
        colour = alt.Color("intervention:N", scale=scale, legend=alt.Legend(title=None, **wide))
        styles = alt.Scale(domain=list(dashes), range=list(dashes.values()))
        dash = alt.StrokeDash("score:N", scale=styles, legend=alt.Legend(title=None, **wide))
        base = alt.Chart(inline_data(points), title=title).encode(
            alt.X("similarity:Q", title="similarity in the changed layer", scale=alt.Scale(zero=False)),
            alt.Y("change:Q", title="change in points"),
            colour,
            tooltip=["intervention:N", "dose:N", "score:N", alt.Tooltip("similarity:Q", format=".3f"), "change:Q"],
        )
        lines = base.mark_line(strokeWidth=1.5).encode(dash, alt.Order("place:O"), alt.Detail("score:N"))
        charts.append(
            alt.layer(lines, base.mark_point(filled=True, size=25, opacity=1)).properties(width=250, height=200)
        )
    return styled(alt.concat(*charts, columns=2))


def _points(doses: Doses, measure: str) -> list[dict[str, object]]:
    """The doses in ascending order: those below zero first, then the unchanged model."""
    order = sorted(range(len(doses.labels)), key=lambda place: doses.amounts[place])
    return [
        {
            "intervention": doses.intervention,
            "dose": doses.labels[dose],
            "place": place,
            "score": name,
            "similarity": float(np.mean(list(doses.similarity[measure][dose].values()))),
            "change": float(np.mean(list(doses.scores[score][dose].values()))),
        }
        for score, name in LINES.items()
        if score in doses.scores
        for place, dose in enumerate(order)
    ]
