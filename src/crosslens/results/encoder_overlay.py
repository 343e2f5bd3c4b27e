"""Layer profiles of several encoders in one chart: the depth of each is scaled to 0-1."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crosslens.encoders.condition import Condition
from crosslens.results.cells import (
    Cells,
    Column,
    Key,
    by_variant,
    corpora_apart,
    disambiguated,
    encoders_apart,
    groups_of,
    refuse_several,
)
from crosslens.results.chart import COLOURS, SHAPES, Chart, alt, inline_data, styled
from crosslens.results.layer_profile import SAME, ZERO_SHOT, LayerProfile, NoProfile, profiles_by_variant
from crosslens.results.pivot import mean_over, mean_row
from crosslens.results.record import Results


@dataclass(frozen=True, slots=True)
class EncoderProfile:
    """The layer profile of an encoder whose depth is known.

    Attributes:
        profile: differences to the reference.
        same: rows in the source language that all the encoders have.
        cross: rows in other languages that all the encoders have.
        setting: how the encoder itself was used, such as its precision, where that differs among the profiles; or "".
        kind: what tells its models apart from those of the other encoders, such as their recipe; "" if nothing does.
    """

    encoder: str
    depth: int
    profile: LayerProfile
    same: Sequence[Key]
    cross: Sequence[Key]
    setting: str = ""
    kind: str = ""

    @property
    def name(self) -> str:
        """The encoder, with its setting and the kind of its models."""
        return ", ".join(filter(None, (self.encoder, self.setting, self.kind)))

    @property
    def reference(self) -> Column:
        """What the differences are to."""
        return Column(Condition(), self.profile.columns[0].variant)

    @property
    def columns(self) -> list[tuple[Column, float]]:
        """The smallest sets of adjacent layers, and the middle of each: 0 below the first layer, 1 above the last."""
        placed = [(column, self._middle(column)) for column in self.profile.columns]
        known = [(column, middle) for column, middle in placed if middle is not None]
        smallest = min((column.order[1] for column, _ in known), default=0)
        return [(column, middle) for column, middle in known if column.order[1] == smallest]

    @property
    def compared(self) -> Cells:
        """Differences to the reference."""
        return self.profile.scores.compared()

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the chart: encoder, line, layers, relative depth, and value with the range of seeds."""
        compared = self.compared
        for line, rows in ((SAME, self.same), (ZERO_SHOT, self.cross)):
            for column, middle in self.columns:
                cell = mean_row(compared, rows, column)
                if cell.by_seed:
                    several = len(cell.by_seed) > 1
                    yield {
                        "encoder": self.name,
                        "line": line,
                        "layers": f"{column.condition.change} of {self.depth}",
                        "depth": middle,
                        "value": cell.mean,
                        "low": min(cell.by_seed.values()) if several else None,
                        "high": max(cell.by_seed.values()) if several else None,
                    }

    def _middle(self, column: Column) -> float | None:
        layers = column.condition.reinitialised(self.depth)
        adjacent = layers == tuple(range(layers[0], layers[-1] + 1)) if layers else False
        if not adjacent or layers[0] == 0 or len(layers) == self.depth:
            return None
        return (layers[0] - 1 + layers[-1]) / 2 / self.depth


def profiles_by_kind(results: Results, *, source: str | None) -> dict[str, list[EncoderProfile]]:
    """Collect the layer profiles of several encoders as `encoder_profiles`, for each kind of models.

    Where an encoder has models of several recipes or training corpora, each kind has profiles of its own. Where each
    encoder has one kind, but not all the same, the profiles are together, and say which.

    Args:
        results: scores of one task, metric and source, from two encoders or more.

    Returns:
        What tells the models of a kind apart, or "" -> the profiles.

    Raises:
        NoProfile: when no kind has profiles to compare.
        RequestError: for several tasks, metrics or sources, and when records contradict one another.
    """
    for axis in ("task", "metric", "source"):
        refuse_several(disambiguated(results), axis)
    results = encoders_apart(results)
    parts = by_variant(results, within=("task", "source"))
    named = [(encoder, kind) for kind, part in parts for encoder in part.columns.coded("encoder").values]
    kinds = dict(named)
    if len(kinds) == len(named):
        parts = [("", results)]
    profiles: dict[str, list[EncoderProfile]] = {}
    reasons = []
    for kind, part in parts:
        try:
            of_kind = encoder_profiles(part, source=source)
        except NoProfile as error:
            reasons.append(error)
            continue
        profiles[kind] = [replace(each, kind=kinds[each.encoder]) if len(parts) == 1 else each for each in of_kind]
    if not profiles:
        raise reasons[0]
    return profiles


def encoder_profiles(results: Results, *, source: str | None) -> list[EncoderProfile]:
    """Collect the layer profiles of several encoders, with means over the corpora that all of them have.

    An encoder that was used with several settings, such as two precisions, has a profile for each. Encoders without a
    target corpus in common with the one that has the most are left out.

    Args:
        results: scores of one task, metric and source, from two encoders or more.

    Raises:
        NoProfile: when fewer than two encoders have a profile and a depth, or when they share no target corpus.
        RequestError: when records of an encoder contradict one another.
    """
    known: dict[tuple[str, str], tuple[int, LayerProfile]] = {}
    by_encoder = groups_of(corpora_apart(results), "encoder")
    for (encoder,), block in by_encoder if len(by_encoder) > 1 else ():
        depths = set(block.columns.coded("depth").values)
        try:
            profiles = profiles_by_variant(block, source=source)
        except NoProfile:
            continue
        if encoder is not None and len(depths) == 1 and (depth := depths.pop()) is not None:
            known |= {(encoder, profile.columns[0].variant): (depth, profile) for profile in profiles}
    scored = {name: _scored(profile) for name, (_, profile) in known.items()}
    # Encoders that share no target with the one that has most of them would leave nothing to compare.
    targets = {name: scored[name] & set(profile.cross) for name, (_, profile) in known.items()}
    widest = max(targets.values(), key=len, default=set())
    known = {name: each for name, each in known.items() if targets[name] & widest}
    several = len({setting for _, setting in known}) > 1
    if len(known) < 2:
        raise NoProfile(
            "these results contain no two encoders with re-initialised layers and a common target corpus",
            hint="plot one encoder at a time: results.filter(encoder=…).plot()",
        )
    _, first = next(iter(known.values()))
    same, cross = (
        [row for row in rows if all(row in scored[name] for name in known)] for rows in (first.same, first.cross)
    )
    if not cross:
        raise NoProfile("the encoders in these results have no target corpus in common")
    profiles = [
        EncoderProfile(encoder, depth, profile, same, cross, setting if several else "")
        for (encoder, setting), (depth, profile) in known.items()
    ]
    profiles = [each for each in profiles if each.columns]
    if len(profiles) < 2:
        raise NoProfile(
            "these results contain no two encoders of which some layers were re-initialised, not all",
            hint="plot one encoder at a time: results.filter(encoder=…).plot()",
        )
    return profiles


def _scored(profile: LayerProfile) -> set[Key]:
    """Rows in which the reference has a score."""
    reference = profile.scores.reference_of(profile.columns[0])
    return {row for row in profile.scores.rows if profile.scores.get(row, reference).by_seed}


def overlay_chart(panels: Mapping[str, Sequence[EncoderProfile]]) -> Chart:
    """Draw encoders over each other: filled marks for zero-shot means, hollow ones for the source language.

    Args:
        panels: title of a panel -> its encoders.
    """
    names = list(dict.fromkeys(each.name for profiles in panels.values() for each in profiles))
    charts = [_panel(title, profiles, names) for title, profiles in panels.items()]
    return styled(
        alt.concat(*charts, columns=2), title={"anchor": "start", "fontWeight": "bold", "subtitleFontSize": 11}
    )


def _panel(title: str, profiles: Sequence[EncoderProfile], names: Sequence[str]) -> Chart:
    rows = [point for each in profiles for point in each.points()]
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(names))]
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(names))]
    legend = alt.Legend(title=None, orient="bottom", columns=2)
    colour = alt.Color("encoder:N", scale=alt.Scale(domain=names, range=colours), legend=legend)
    shape = alt.Shape("encoder:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)
    x = alt.X("depth:Q", title="re-initialised layers, as a share of the depth", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("value:Q", title="change, points", scale=alt.Scale(nice=False, padding=12), axis=alt.Axis(tickCount=5))
    base = alt.Chart(inline_data(rows)).encode(x, y, colour, detail=["encoder:N", "line:N"])
    tip = ["encoder:N", "line:N", "layers:N", alt.Tooltip("value:Q", format="+.2f")]
    zero_shot, same = (base.transform_filter(alt.datum.line == line) for line in (ZERO_SHOT, SAME))
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeWidth=1.5, color="#59636e")
    bars = zero_shot.transform_filter(alt.datum.high != None)  # noqa: E711
    chart = alt.layer(
        zero.encode(alt.Y("zero:Q")),
        same.mark_line(strokeWidth=1.2, strokeDash=[4, 3]),
        zero_shot.mark_line(strokeWidth=2),
        bars.mark_rule(strokeWidth=1.5).encode(alt.Y("low:Q"), alt.Y2("high:Q")),
        same.mark_point(size=40, strokeWidth=1.5, filled=False, fill="white", opacity=1).encode(shape, tooltip=tip),
        zero_shot.mark_point(size=50, filled=True, opacity=1).encode(shape, tooltip=tip),
    )
    cross, drawn = profiles[0].cross, {point["line"] for point in rows}
    mean = f", mean of {mean_over(cross)}" if len(cross) > 1 else ""
    about = [f"filled: zero-shot{mean}" + ("; hollow: same language" if SAME in drawn else "")]
    if any(point["high"] is not None for point in rows):
        about.append("bars: lowest and highest seed")
    return chart.properties(width=230, height=170, title=alt.TitleParams(title or "layer profiles", subtitle=about))
