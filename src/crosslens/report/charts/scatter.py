"""Scatter plots of languages: transfer gap against similarity, and score against subword overlap."""

from collections.abc import Mapping, Sequence

from crosslens.formatting import plain
from crosslens.report.charts.label_places import place_labels
from crosslens.report.correlations import names_of
from crosslens.results.chart import COLOURS, Chart, alt, inline_data, styled
from crosslens.results.record import Results
from crosslens.similarity.transfer_gap import OVERLAPS, Correlated, correlations
from crosslens.tasks import main_metric
from crosslens.tasks.titles import metric_name

OVERLAP: Mapping[str, str] = dict(zip(OVERLAPS, ("types", "tokens"), strict=True))
"""Measure -> of which subwords."""

SYMBOLS = {"spearman": "ρ", "pearson": "r", "kendall": "τ"}

WIDTH, HEIGHT, FONT, RADIUS = 250, 200, 10, 4
"""Size of a panel, of the names of languages and of points, in pixels."""

MARGIN = 0.06
"""Empty part of a panel on each side of the points."""


def gap_against_similarity(results: Results) -> Chart:
    """Figure 3 of Muller et al. (2021): transfer gap against similarity by language."""
    correlated = correlations(results)
    panels = {f"{name}, {each.state}": each for name, each in zip(names_of(correlated), correlated, strict=True)}
    return _panels(panels, x="CKA with the source, mean over layers")


def score_against_overlap(results: Results) -> Chart:
    """Figure 3 of Wu & Dredze (2019): zero-shot score against the subwords seen in training, by task."""
    correlated = correlations(results, measures=list(OVERLAP), coefficient="pearson", outcome="score")
    named = zip(names_of(correlated), correlated, strict=True)
    panels = {f"{name}, {OVERLAP[each.measure]}": each for name, each in named}
    return _panels(panels, x="subwords seen in the source-language training data, percent")


def _panels(correlated: Mapping[str, Correlated], *, x: str) -> Chart:
    charts = [_panel(each, title=title, x=x) for title, each in correlated.items()]
    return styled(alt.concat(*charts, columns=2))


def _panel(correlated: Correlated, *, title: str, x: str) -> Chart:
    """One point per language, with its name where there is room, and a least-squares line where both sides vary."""
    languages = correlated.correlation.languages
    rows = [
        {"language": name, "similarity": correlated.similarities[name], "outcome": correlated.outcomes[name]}
        for name in languages
    ]
    across, up = (_domain([row[side] for row in rows]) for side in ("similarity", "outcome"))
    pixels = [(WIDTH * _share(row["similarity"], across), HEIGHT * (1 - _share(row["outcome"], up))) for row in rows]
    places = place_labels(pixels, languages, width=WIDTH, height=HEIGHT, font=FONT, radius=RADIUS)
    labels = [
        {"language": name, "x": place.x, "y": place.y, "align": place.align}
        for name, place in zip(languages, places, strict=True)
        if place is not None
    ]
    y = "transfer gap" if correlated.outcome == "gap" else metric_name(main_metric(correlated.task))
    base = alt.Chart(inline_data(rows)).encode(
        alt.X("similarity:Q", title=x, scale=alt.Scale(domain=across, nice=False, zero=False)),
        alt.Y("outcome:Q", title=f"{y}, points", scale=alt.Scale(domain=up, nice=False, zero=False)),
    )
    tip = ["language:N", alt.Tooltip("similarity:Q", format=".3f"), alt.Tooltip("outcome:Q", format=".1f")]
    points = base.mark_point(filled=True, size=36, color=COLOURS[0], opacity=1).encode(tooltip=tip)
    names = alt.Chart(inline_data(labels)).mark_text(
        fontSize=FONT, align=alt.expr("datum.align"), baseline="middle", x=alt.expr("datum.x"), y=alt.expr("datum.y")
    )
    fit = base.transform_regression("similarity", "outcome").mark_line(color="#888888", strokeDash=[4, 3], clip=True)
    layers = [*([] if correlated.undefined else [fit]), points, names.encode(text="language:N")]
    unnamed = len(languages) - len(labels)
    subtitle = [
        *([] if correlated.undefined else [_coefficient(correlated), "dashed: least-squares line"]),
        *correlated.caveats,
        *([f"{unnamed} of {len(languages)} languages not named, for lack of room"] if unnamed else []),
    ]
    heading = alt.TitleParams(title, subtitle=subtitle)
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=heading)


def _domain(values: Sequence[float]) -> list[float]:
    """Ends of an axis with a margin around the values; a unit on each side of a constant."""
    low, high = min(values), max(values)
    margin = MARGIN * (high - low) or 1.0
    return [low - margin, high + margin]


def _share(value: float, domain: Sequence[float]) -> float:
    """Where a value stands between the ends of an axis, from 0 to 1."""
    low, high = domain
    return (value - low) / (high - low)


def _coefficient(correlated: Correlated) -> str:
    result = correlated.correlation
    value, p = plain(result.value, decimals=2), plain(result.p, decimals=3)
    return f"{SYMBOLS[result.coefficient]} {value}, p {p}, {len(result.languages)} languages"
