"""Zero-shot scores by condition of pretraining as bars (Conneau, Wu et al. 2020, Figure 3)."""

from typing import TYPE_CHECKING

from crosslens.errors import RequestError
from crosslens.report.conditions.pretraining_factors import MEAN, pretraining_factors
from crosslens.report.table import Row
from crosslens.results.chart import COLOURS, grammar, styled
from crosslens.results.record import Results
from crosslens.tasks.titles import as_printed

if TYPE_CHECKING:
    import altair


def factor_bars(results: Results) -> "altair.VConcatChart":
    """Draw a bar for each target language and condition of pretraining, one panel per task, source and encoder.

    Conditions are in the paper's order. Black ticks are means over the languages; lines are one standard deviation over
    seeds in both directions.

    Args:
        results: scores of bilingual encoders.

    Raises:
        RequestError: when no factor of pretraining was varied; when altair is not installed.
    """
    alt = grammar()
    tables = pretraining_factors(results)
    if not tables:
        raise RequestError("these results contain no encoders whose pretraining was varied")
    (table,) = tables
    languages = list(table.head[: table.head.index(MEAN)])
    panels = [_panel(rows, languages, title) for title, rows in table.groups.items()]
    return styled(alt.vconcat(*panels).resolve_scale(x="independent", xOffset="independent"))


def _panel(rows: tuple[Row, ...], languages: list[str], title: str) -> "altair.LayerChart":
    alt = grammar()
    several = len(languages) > 1
    bars = [
        {
            "condition": row.label,
            "language": name,
            "score": cell.value,
            "low": max(cell.value - cell.std, 0.0) if cell.std is not None else None,
            "high": cell.value + cell.std if cell.std is not None else None,
        }
        for row in rows
        for name, cell in zip((*languages, MEAN), row.cells, strict=False)
        if cell.value is not None and (several or name != MEAN)
    ]
    conditions = [row.label for row in rows]
    present = [name for name in languages if any(bar["language"] == name for bar in bars)]
    of_languages = alt.Chart(alt.InlineData(values=[bar for bar in bars if bar["language"] != MEAN]))
    x = alt.X("condition:N", sort=conditions, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=240))
    offset = alt.XOffset("language:N", sort=present, scale=alt.Scale(domain=present))
    tip = ["condition:N", "language:N", alt.Tooltip("score:Q", format=".1f")]
    colour = alt.Color(
        "language:N",
        sort=languages,
        title="target language",
        scale=alt.Scale(domain=languages, range=list(COLOURS)),
        legend=alt.Legend(orient="right"),
    )
    score = alt.Y("score:Q", title="zero-shot score, points", scale=alt.Scale(zero=True))
    columns = of_languages.mark_bar().encode(x, offset, score, colour, tooltip=tip)
    lines = of_languages.mark_rule(color="#444444").encode(x, offset, alt.Y("low:Q"), alt.Y2("high:Q"))
    means = (
        alt.Chart(alt.InlineData(values=[bar for bar in bars if bar["language"] == MEAN]))
        .mark_tick(color="black", thickness=2, orient="horizontal")
        .encode(x, score, tooltip=tip)
    )
    chart = alt.layer(columns, lines, means)
    return chart.properties(width=alt.Step(14 if len(present) > 1 else 30), height=180, title=as_printed(title))
