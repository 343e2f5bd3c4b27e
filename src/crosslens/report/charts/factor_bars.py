"""Zero-shot scores by condition of pretraining as bars (Conneau, Wu et al. 2020, Figure 3)."""

from crosslens.errors import RequestError
from crosslens.report.conditions.comparison import Comparison
from crosslens.report.conditions.pretraining_factors import MEAN, factor_blocks, factor_columns, rows_of, target_names
from crosslens.results.chart import COLOURS, Chart, alt, inline_data, styled
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results
from crosslens.tasks.titles import as_printed


def factor_bars(results: Results) -> Chart:
    """Draw a bar for each target language and condition of pretraining, one panel per task, source and encoder.

    Conditions are in the paper's order. Black ticks are means over the languages; lines are one standard deviation over
    seeds in both directions.
    """
    blocks = factor_blocks(results)
    if not blocks:
        raise RequestError("these results contain no encoders whose pretraining was varied")
    languages = target_names(blocks)
    panels = [_panel(block, languages) for block in blocks]
    return styled(alt.vconcat(*panels).resolve_scale(x="independent", xOffset="independent"))


def _panel(block: Comparison, languages: list[str]) -> Chart:
    several = len(languages) > 1
    columns = factor_columns([block])
    cells = {
        (column.label, name): mean_row(block.scores, keys, column)
        for column in columns
        for name, keys in rows_of(block).items()
        if several or name != MEAN
    }
    bars = [
        {
            "condition": condition,
            "language": name,
            "score": cell.mean,
            "low": max(cell.mean - cell.std, 0.0) if cell.std is not None else None,
            "high": cell.mean + cell.std if cell.std is not None else None,
        }
        for (condition, name), cell in cells.items()
        if cell.mean is not None
    ]
    conditions = [column.label for column in columns]
    present = [name for name in languages if any(bar["language"] == name for bar in bars)]
    of_languages = alt.Chart(inline_data(bar for bar in bars if bar["language"] != MEAN))
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
    scores = of_languages.mark_bar().encode(x, offset, score, colour, tooltip=tip)
    lines = of_languages.mark_rule(color="#444444").encode(x, offset, alt.Y("low:Q"), alt.Y2("high:Q"))
    means = (
        alt.Chart(inline_data(bar for bar in bars if bar["language"] == MEAN))
        .mark_tick(color="black", thickness=2, orient="horizontal")
        .encode(x, score, tooltip=tip)
    )
    chart = alt.layer(scores, lines, means)
    over = f"mean of {block.over(block.cross)}" if len(block.cross) > 1 else ""
    title = ", ".join(filter(None, (as_printed(block.title), block.label, f"source {block.source}", over)))
    marks = ["ticks: means over the languages"] if any(bar["language"] == MEAN for bar in bars) else []
    lines_of = any(bar["low"] is not None for bar in bars if bar["language"] != MEAN)
    marks += ["lines: one standard deviation over seeds in both directions"] if lines_of else []
    heading = alt.TitleParams(title, subtitle="; ".join(marks))
    return chart.properties(width=alt.Step(14 if len(present) > 1 else 30), height=180, title=heading)
