"""The layer profile: what re-initialising each part of the encoder costs, in the source language and zero-shot."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crosslens.errors import RequestError
from crosslens.formatting import plain, signed
from crosslens.results.cells import Cell, Cells, Column, Key
from crosslens.results.chart import COLOURS, Chart, alt, inline_data, range_of_seeds, row_names, styled
from crosslens.results.pivot import mean_over, mean_row, parts_of, score_cells
from crosslens.results.record import Results

SAME, ZERO_SHOT, TARGET = "same language", "zero-shot, mean", "zero-shot, one language"
"""What a point of the profile is: the source language, the mean over the others, or one of them."""

Intervals = Mapping[tuple[str, Column], tuple[float, float, str]]
"""(`SAME` or `ZERO_SHOT`, condition) -> ends of the 95 % interval of the difference, in points, and what it is over, as
`crosslens.scores.intervals.Over` names it."""


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """Differences to the reference when layers are re-initialised, of one task, source and encoder.

    Attributes:
        title: heading of the panel.
        scores: scores of all conditions.
        same: rows in the source language.
        cross: rows in other languages.
        columns: sets of re-initialised layers, small sets first, each from the bottom up.
        intervals: 95 % intervals of means, where they are known.
    """

    title: str
    scores: Cells
    same: Sequence[Key]
    cross: Sequence[Key]
    columns: Sequence[Column]
    intervals: Intervals

    @property
    def lines(self) -> dict[str, Sequence[Key]]:
        """Name of a line -> the rows it is the mean of: the source language, all others, and each of them."""
        names = row_names(self.cross)
        targets = {names[row]: [row] for row in self.cross} if len(self.cross) > 1 else {}
        means = ((ZERO_SHOT, self.cross), (SAME, self.same))  # drawn in this order
        return {**targets, **{name: rows for name, rows in means if rows}}

    @property
    def reference(self) -> str:
        """Scores of the reference: ``same language 95.7 · zero-shot 80.4 (18 languages)``."""
        column = self.scores.reference_of(self.columns[0])
        same, cross = (mean_row(self.scores, rows, column).mean for rows in (self.same, self.cross))
        own, over = (f" ({mean_over(rows)})" if len(rows) > 1 else "" for rows in (self.same, self.cross))
        words = [f"{SAME} {plain(same)}{own}" if same is not None else ""]
        words += [f"zero-shot {plain(cross)}{over}" if cross is not None else ""]
        return " · ".join(filter(None, words))

    @property
    def bars(self) -> str:
        """What the error bars are; "" if there are none."""
        if self.intervals:
            drawn = (self.intervals.get((name, column)) for name, column, _ in self.changes())
            over = sorted({interval[2] for interval in drawn if interval})
            return f"bars: 95 % intervals over {', or over '.join(over)}" if over else ""
        seeds = range_of_seeds(cell for name, _, cell in self.changes() if _has_bar(name, cell))
        return f"bars: {seeds}" if seeds else ""

    def changes(self) -> Iterator[tuple[str, Column, Cell]]:
        """Yield name of the line, re-initialised layers, and differences to the reference, without missing ones."""
        compared = self.scores.compared()
        for name, rows in self.lines.items():
            for column in self.columns:
                cell = mean_row(compared, rows, column)
                if cell.by_seed:
                    yield name, column, cell

    def points(self) -> list[dict[str, Any]]:
        """Rows of the chart: line, layers, value and ends of the error bar, in points.

        Lines connect sets of layers of one size only: ``size``.
        """
        points = []
        for name, column, cell in self.changes():
            low, high, _ = self.intervals.get((name, column), (None, None, None))
            if not self.intervals and _has_bar(name, cell):
                low, high = min(cell.by_seed.values()), max(cell.by_seed.values())
            points.append(
                {
                    "line": name,
                    "of": name if name in (SAME, ZERO_SHOT) else TARGET,
                    "layers": _label(column),
                    "size": column.order[1],
                    "value": cell.mean,
                    "low": low,
                    "high": high,
                }
            )
        return points


def _has_bar(name: str, cell: Cell) -> bool:
    """Whether a point has an error bar over seeds: only means have, of several seeds."""
    return name in (SAME, ZERO_SHOT) and len(cell.by_seed) > 1


class NoProfile(RequestError):
    """Results that contain no layer profile, or no two of them to compare."""


def profiles_by_variant(
    results: Results, *, source: str | None, title: str = "", intervals: Intervals | None = None
) -> list[LayerProfile]:
    """Collect the differences to the reference of all models with re-initialised layers.

    Models that differ in more than the condition, such as how they read text, have profiles of their own.

    Args:
        results: scores of one task, metric, encoder and source.
        intervals: 95 % intervals of the means.

    Raises:
        NoProfile: when no model with re-initialised layers has a reference.
        RequestError: when records contradict one another.
    """
    table = score_cells(results)
    columns = [column for column in table.columns if table.is_difference(column) and column.condition.whole_layers]
    if not columns:
        raise NoProfile("these results contain no model with re-initialised layers and its reference")
    same, cross, _ = parts_of(table, source)
    variants = dict.fromkeys(column.variant for column in columns)
    return [
        LayerProfile(
            ", ".join(filter(None, (title, variant))),
            table,
            same,
            cross,
            [column for column in columns if column.variant == variant],
            intervals or {},
        )
        for variant in variants
    ]


def _label(column: Column) -> str:
    return column.condition.change.replace("-", "–")


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours of a profile on a light or dark page."""

    text: str
    muted: str
    grid: str
    target: str
    paper: str
    same: str
    zero_shot: str


LIGHT = Ink("#1f2328", "#59636e", "#e6e6e6", "#cdd2d8", "#ffffff", COLOURS[1], COLOURS[0])
DARK = Ink("#e6edf3", "#9198a1", "#30363d", "#4b535d", "#0d1117", COLOURS[5], COLOURS[4])

APART = {SAME: -3, ZERO_SHOT: 3, TARGET: 0}
"""How far marks stand beside the place of their layers, in pixels, so that bars of both means can be seen."""

STEP = 44
"""Width of a set of layers in pixels, which leaves room for a number left of the first mark."""


def profile_chart(profiles: Sequence[LayerProfile], *, ink: Ink = LIGHT) -> Chart:
    """Draw layer profiles side by side: hollow marks for the source language, filled ones for the zero-shot mean.

    Args:
        profiles: one for each panel.
        ink: `LIGHT` or `DARK`.
    """
    legend = alt.Legend(title=None, orient="bottom", labelColor=ink.muted, columns=1 if len(profiles) == 1 else 3)
    drawn = {point["of"] for profile in profiles for point in profile.points()}
    kinds = [kind for kind in (SAME, ZERO_SHOT, TARGET) if kind in drawn]
    panels = [_panel(profile, ink, legend, kinds) for profile in profiles]
    chart = alt.concat(*panels, columns=2, align="all", spacing=24)
    axis = {"labelColor": ink.muted, "titleColor": ink.muted, "gridColor": ink.grid}
    title = {"color": ink.text, "subtitleColor": ink.muted, "anchor": "start", "fontWeight": "bold"}
    return styled(chart, axis=axis, title=title | {"subtitleFontSize": 11}, background=ink.paper)


def _panel(profile: LayerProfile, ink: Ink, legend: Any, kinds: Sequence[str]) -> Chart:
    """One profile, with the legend of all: the kinds of points that some of them have."""
    rows = profile.points()
    layers = [_label(column) for column in profile.columns]
    colours = {SAME: ink.same, ZERO_SHOT: ink.zero_shot, TARGET: ink.target}
    filled = colours | {SAME: ink.paper}
    colour, fill = (
        channel("of:N", scale=alt.Scale(domain=kinds, range=[inks[kind] for kind in kinds]), legend=legend)
        for channel, inks in ((alt.Color, colours), (alt.Fill, filled))
    )
    x = alt.X(
        "layers:N",
        sort=layers,
        scale=alt.Scale(type="point", padding=1),
        title="re-initialised layers, from bottom to top",
        axis=alt.Axis(labelAngle=0, grid=False, domain=False, ticks=False, labelPadding=8),
    )
    axis = alt.Axis(domain=False, ticks=False, tickCount=5)
    y = alt.Y("value:Q", title="change, points", scale=alt.Scale(nice=False, padding=12), axis=axis)
    base = alt.Chart(inline_data(rows)).encode(x, y)
    tip = ["line:N", "layers:N", *(alt.Tooltip(f"{name}:Q", format="+.2f") for name in ("value", "low", "high"))]
    parts = {name: base.transform_filter(alt.datum.of == name).encode(colour, tooltip=tip) for name in colours}
    targets = parts[TARGET].encode(detail=["line:N", "size:N"])
    means = {name: (parts[name], APART[name]) for name in (ZERO_SHOT, SAME)}
    dashes = {ZERO_SHOT: [1, 0], SAME: [4, 3]}
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeWidth=1.5, color=ink.muted)
    lines = [
        mean.mark_line(strokeWidth=2, strokeDash=dashes[name], xOffset=apart) for name, (mean, apart) in means.items()
    ]
    bars = [
        mean.transform_filter(alt.datum.high != None).mark_rule(strokeWidth=1.5, xOffset=apart)  # noqa: E711
        for mean, apart in means.values()
    ]
    points = [mean.mark_point(size=48, strokeWidth=2, opacity=1, xOffset=apart) for mean, apart in means.values()]
    chart = alt.layer(
        zero.encode(alt.Y("zero:Q")),
        targets.mark_line(strokeWidth=1),
        targets.mark_point(size=5, strokeWidth=1, opacity=1).encode(fill),
        *(line.encode(detail="size:N") for line in lines),
        *(bar.encode(alt.Y("low:Q"), alt.Y2("high:Q")) for bar in bars),
        *(point.encode(fill) for point in points),
        *_labels(rows, layers[0], x, ink),
    )
    about = [*profile.reference.split(" · "), *filter(None, [profile.bars])]
    title = alt.TitleParams(profile.title or "layer profile", subtitle=about)
    return chart.properties(width=alt.Step(STEP), height=180, title=title)


def _labels(rows: Sequence[Mapping[str, Any]], first: str, x: Any, ink: Ink) -> list[Any]:
    """Differences of the lowest layers in figures, left of their marks, apart from each other and from the 0 line."""
    named = sorted(
        (row for row in rows if row["layers"] == first and row["of"] != TARGET), key=lambda row: row["value"]
    )
    drawn = [0.0, *(row[end] for row in rows for end in ("value", "low", "high") if row[end] is not None)]
    height = max(drawn) - min(drawn)
    close = len(named) > 1 and named[1]["value"] - named[0]["value"] < 0.06 * height
    labels = []
    for row, dy in zip(named, (6, -6) if close else (0, 0), strict=False):
        if not dy and abs(row["value"]) < 0.04 * height:
            dy = 8 if row["value"] < 0 else -8
        data = alt.InlineData(values=[{**row, "label": signed(row["value"])}])
        text = alt.Chart(data).encode(x, alt.Y("value:Q"), alt.Text("label:N"))
        colour = ink.same if row["of"] == SAME else ink.zero_shot
        style = {"align": "right", "dx": -7 + APART[row["of"]], "dy": dy, "fontSize": 11, "fontWeight": "bold"}
        labels.append(text.mark_text(**style, color=colour))
    return labels
