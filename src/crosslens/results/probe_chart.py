"""Chart of the accuracy of linear probes by layer."""

from crosslens.errors import RequestError
from crosslens.results.cells import cells, disambiguated
from crosslens.results.chart import COLOURS, LONG, Chart, alt, by_probed_state, inline_data, key, layer_axis, styled
from crosslens.results.record import Results

ANSWERS = {"accuracy": "true labels", "accuracy_shuffled": "shuffled labels"}
"""Metric of a probe -> labels it was trained on."""

ITEMS = "test texts or sentences"
"""What the intervals of probes are over: texts where these are labelled, the sentences of words otherwise."""


def probe_chart(results: Results) -> Chart:
    """Figure 2 of Wu & Dredze (2019): accuracy of linear probes by layer, and with shuffled labels."""
    rows = []
    asked = [block for (measure,), block in results.groups("measure") if measure is not None]
    for block in asked:
        for name, records in by_probed_state(block.filter(metric=list(ANSWERS), target=None)):
            for (metric,), scores in records.groups("metric"):
                table = cells(scores, rows=("measure",), columns=("layer",))
                ends = {record["layer"]: (record["low"], record["high"]) for record in disambiguated(scores)}
                for (measure, *_), layer in ((row, layer) for row in table.rows for layer in table.columns):
                    cell = table.get((measure,), layer)
                    low, high = ends[layer] if len(cell.by_seed) == 1 else (None, None)
                    rows.append(
                        {
                            "measure": measure,
                            "encoder": name,
                            "answers": ANSWERS[metric],
                            "layer": layer,
                            "value": cell.mean,
                            "low": low,
                            "high": high,
                        }
                    )
    if not rows:
        raise RequestError("these results contain no probe scores")
    order = list(dict.fromkeys(row["encoder"] for row in rows))
    solid = alt.Legend(symbolOpacity=1, symbolType="stroke", symbolStrokeWidth=2)
    scale = alt.Scale(domain=order, range=list(COLOURS))
    colour = alt.Color("encoder:N", sort=order, scale=scale, legend=solid)
    dash = alt.StrokeDash("answers:N", sort=list(ANSWERS.values()), title="trained on", legend=alt.Legend(**LONG))
    base = alt.Chart(inline_data(rows)).encode(layer_axis())
    y = alt.Y("value:Q", title="accuracy, percent", scale=alt.Scale(domain=[0, 100]))
    precise = [alt.Tooltip(f"{name}:Q", format=".1f") for name in ("value", "low", "high")]
    tip = ["encoder:N", "answers:N", "layer:Q", *precise]
    lines = base.mark_line(strokeWidth=2).encode(y, colour, dash, tooltip=tip)
    points = base.mark_point(filled=True, size=30, opacity=1).encode(y, colour, tooltip=tip)
    band = base.mark_area(opacity=0.15).encode(alt.Y("low:Q"), alt.Y2("high:Q"), colour, alt.Detail("answers:N"))
    chart = alt.layer(band, lines, points).properties(width=380, height=240)
    panels = chart.facet(facet=alt.Facet("measure:N", title=None), columns=2)
    bands = any(row["low"] is not None for row in rows)
    return styled(panels.properties(title=key(f"bands: 95 % intervals over {ITEMS}")) if bands else panels)
