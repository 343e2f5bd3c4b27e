"""Results as charts: the similarity of translations by layer, and what each set of layers costs each target."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false
# (pandas brings no types of its own, and what is inferred from its source is wrong half of the time)

from typing import TYPE_CHECKING, Any

from crosslens.errors import RequestError
from crosslens.results.table import CROSS, SAME, conditions_of, score_table

if TYPE_CHECKING:
    import altair
    import pandas

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Okabe & Ito's, told apart by the colour-blind; line styles and shapes tell them apart in grey."""

NULLS = {"": "translations", "_length_matched": "unrelated, of like length", "_shuffled": "unrelated"}
"""Ending of a measure's name -> what its pairs of sentences are."""


def grammar() -> Any:
    """altair, the grammar of all charts.

    Raises:
        RequestError: when it is not installed.
    """
    try:
        import altair
        import pikepdf  # noqa: F401  (for .pdf)
        import vl_convert  # noqa: F401  (what altair writes files with)
    except ImportError:
        raise RequestError("charts need altair", hint="pip install 'crosslens[report]'") from None
    return altair


def similarity_chart(frame: "pandas.DataFrame", *, measure: str = "cka") -> "altair.LayerChart":
    """Figures 1 and 2 of Muller et al. (2021): a line an encoder, its nulls dashed; bands hold 80 % of the pairs.

    Args:
        frame: the columns of `crosslens.results.record.Record`.
        measure: whose; its nulls come along.

    Raises:
        RequestError: when the records hold no such similarity; when altair is not installed.
    """
    alt = grammar()
    frame = frame[frame["measure"].isin([measure + ending for ending in NULLS])]
    frame = frame[(frame["source"] != frame["target"]) & frame["value"].notna()]
    if frame.empty:
        raise RequestError(f"these results hold no {measure} of two languages")
    frame = frame.assign(encoder=encoder_states(frame), pairs=frame["measure"].str.removeprefix(measure).map(NULLS))
    grouped = frame.groupby(["encoder", "pairs", "layer"], sort=False)["value"]
    table = grouped.agg(value="mean", low=lambda v: v.quantile(0.1), high=lambda v: v.quantile(0.9), n="size")
    table = table.reset_index()
    encoders = list(dict.fromkeys(table["encoder"]))
    scale = alt.Scale(domain=encoders, range=list(COLOURS))
    bold = alt.Legend(symbolOpacity=1)
    colour = alt.Color("encoder:N", sort=encoders, title="encoder", scale=scale, legend=bold)
    shape = alt.Shape("encoder:N", sort=encoders, title="encoder", scale=alt.Scale(domain=encoders))
    dash = alt.StrokeDash("pairs:N", sort=list(NULLS.values()), title="pairs")
    x, y = layer_axis(), alt.Y("value:Q", title=f"{measure}, mean over pairs", scale=alt.Scale(domainMin=0))
    precise = [alt.Tooltip(name, format=".3f") for name in ("value", "low", "high")]
    tip = ["encoder", "pairs", "layer", *precise, "n"]
    lines = alt.Chart(table).mark_line(strokeWidth=2).encode(x, y, colour, dash, tooltip=tip)
    points = alt.Chart(table).mark_point(filled=True, size=30).encode(x, y, colour, shape, tooltip=tip)
    band = alt.Chart(table).mark_area(opacity=0.13).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), colour)
    translations = alt.datum.pairs == NULLS[""]
    marks = band.transform_filter(translations) + lines + points.transform_filter(translations)
    return styled(marks.properties(width=420, height=260))


def score_chart(frame: "pandas.DataFrame") -> "altair.LayerChart":
    """What each set of layers costs each target: a heat map of one task, blue for what is no loss.

    Args:
        frame: the columns of `crosslens.results.record.Record`, of one task, metric, encoder and source.

    Raises:
        RequestError: when nothing is compared with a reference; when altair is not installed.
    """
    found = differences(frame)
    return styled(heat_map(found, widest=largest(found)))


def differences(frame: "pandas.DataFrame") -> "pandas.DataFrame":
    """Differences to the reference by target and layers, from the records of one task, metric, encoder and source.

    Raises:
        RequestError: when nothing is compared with a reference.
    """
    table = score_table(frame)
    found = table[[column for column in table.columns if column.startswith("Δ ")]]
    if found.empty:
        raise RequestError("these results compare no layers with a reference", hint="print(results.table()) shows them")
    return found


def largest(found: "pandas.DataFrame") -> float:
    """The largest of some differences, at least 5 points: what the deepest colour stands for."""
    return max(5.0, float(found.abs().max(axis=None)))


def heat_map(found: "pandas.DataFrame", *, widest: float) -> "altair.LayerChart":
    """A heat map of differences.

    Args:
        found: what `differences` gives.
        widest: the difference of the deepest colour, in points.
    """
    alt = grammar()
    many = found.index.get_level_values("target").duplicated(keep=False)
    names = [
        {SAME: "same language", CROSS: "other languages"}.get(target, f"{target} {corpus}" if doubled else target)
        for (target, corpus), doubled in zip(found.index, many, strict=True)
    ]
    long = found.set_axis(names).rename_axis("target").reset_index().melt("target", var_name="layers")
    long["layers"] = long["layers"].str.removeprefix("Δ ").str.removeprefix("reference ")
    drawn = not long["layers"].str.contains("[a-z]", regex=True).drop(long.index[long["layers"] == "all"]).any()
    angle = 0 if long["layers"].str.len().max() <= 6 else -40
    base = alt.Chart(long.dropna()).encode(
        alt.X(
            "layers:N",
            sort=None,
            title="layers drawn anew" if drawn else None,
            axis=alt.Axis(labelAngle=angle, orient="top"),
        ),
        alt.Y("target:N", sort=None, title=None),
    )
    scale = alt.Scale(scheme="redblue", domain=[-widest, widest], domainMid=0)
    colour = alt.Color("value:Q", title="points", scale=scale)
    boxes = base.mark_rect().encode(colour, tooltip=["target", "layers", alt.Tooltip("value", format="+.2f")])
    ink = alt.condition(abs(alt.datum.value) > 0.55 * widest, alt.value("white"), alt.value("black"))
    numbers = base.mark_text(fontSize=10).encode(alt.Text("value:Q", format="+.1f"), color=ink)
    return (boxes + numbers).properties(width=alt.Step(46), height=alt.Step(17))


def layer_axis() -> Any:
    """Layers from left to right."""
    alt = grammar()
    return alt.X("layer:Q", title="layer (0 is the embeddings)", axis=alt.Axis(tickMinStep=1, format="d"))


def styled(chart: Any) -> Any:
    """A chart in the common style."""
    alt = grammar()
    text = {"labelFontSize": 11, "titleFontSize": 11}
    config = alt.Config(
        font="Helvetica, Arial, sans-serif", view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(**text, titleFontWeight="normal", gridColor="#e6e6e6", labelLimit=260),
        legend=alt.LegendConfig(**text, labelLimit=400), header=alt.HeaderConfig(labelFontSize=12),
        title=alt.TitleConfig(fontSize=12, fontWeight="normal"),
    )  # fmt: skip
    return chart.properties(config=config)


def encoder_states(frame: "pandas.DataFrame") -> list[str]:
    """Whose similarity a record is: ``pretrained``, ``untrained``, ``fine-tuned for pos``, ``1-2, fine-tuned …``."""
    names = []
    several = frame["encoder"].nunique() > 1
    for condition, task, encoder in zip(conditions_of(frame), frame["task"], frame["encoder"], strict=True):
        if isinstance(task, str):
            name = ("" if condition == "reference" else f"{condition}, ") + f"fine-tuned for {task}"
        elif condition.startswith("0-"):
            name = "untrained"
        else:
            name = "pretrained" if condition == "reference" else f"{condition} drawn anew"
        names.append(f"{encoder}: {name}" if several else name)
    return names
