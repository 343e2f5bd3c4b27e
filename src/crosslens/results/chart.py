"""Charts of results: similarity of translations by layer, and scores by target and condition."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.cells import (
    SHOWN,
    Cell,
    Cells,
    Column,
    Key,
    Row,
    cells,
    condition_of,
    disambiguated,
    encoders_apart,
    mean_of,
    variants_of,
    with_names,
)
from crosslens.results.names import short_names
from crosslens.results.pivot import UNKNOWN, mean_row, parts_of, score_cells
from crosslens.results.record import Results
from crosslens.results.record_settings import settings_of, settings_text
from crosslens.tasks.titles import metric_name, task_name

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")
"""Okabe & Ito's, told apart by the colour-blind; line styles and shapes tell them apart in grey."""

SHAPES = ("circle", "square", "triangle-up", "cross", "diamond", "triangle-right", "triangle-down")
"""One fewer than the colours, so that pairs of both repeat only after 56 encoders."""

SENTENCE_PAIRS = {"": "translations", "_length_matched": "unrelated, length-matched", "_shuffled": "unrelated"}
"""Ending of a measure's name -> kind of sentence pairs."""


def grammar() -> Any:
    """Import altair, which draws all charts.

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


class _Altair:
    """altair, imported when a chart is drawn."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(grammar(), name)


alt: Any = _Altair()

Chart: TypeAlias = Any
"""A chart of altair."""


def inline_data(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return rows as the data of a chart. altair copies lists, and all rows in them, whenever a chart is changed."""
    return alt.InlineData(values=tuple(rows))


def main_measure(results: Results) -> str:
    """Return the measure that one chart of similarities shows: ``cka``, or else the first one besides baselines."""
    measures = [name for name in results.records["measure"].unique().to_pylist() if name is not None]
    measured = [name for name in measures if not name.endswith(tuple(filter(None, SENTENCE_PAIRS)))]
    return "cka" if "cka" in measures else next(iter(measured), "cka")


LONG = {"symbolType": "stroke", "symbolSize": 500}
"""Options of legends in which a symbol is long enough to show the style of a line."""

DASHES = dict(zip(SENTENCE_PAIRS.values(), ([1, 0], [1.5, 3.5], [7, 3]), strict=True))
"""Kind of sentence pairs -> line style, the page's; told apart at the width of a column."""

PAIR = ("source", "target", "partner")
"""Columns that name a pair of languages; for bilingual encoders with their second language."""


def similarity_chart(results: Results, *, measure: str = "cka") -> Chart:
    """Figures 1 and 2 of Muller et al. (2021): one line per encoder, baselines dashed; bands cover 80 % of the pairs.

    Args:
        results: similarities; other records are ignored.

    Raises:
        RequestError: when the records hold no such similarity, or none at all; when no language pair was measured with
            all encoders; when altair is not installed.
    """
    kinds = {measure + ending: kind for ending, kind in SENTENCE_PAIRS.items()}
    metrics = results.records["metric"].unique().to_pylist()
    if metrics and "similarity" not in metrics:
        measured = ", ".join(map(str, metrics))
        raise RequestError(
            "a chart shows scores or similarities, but these results are "
            f"{measured if measured == measure else f'{measured} of {measure}'}",
            hint="`crosslens report` on their folder or file draws what it has a figure for; table() tabulates them",
        )
    tables = [
        (state.name, each, pair_cells(block))
        for state, records in by_state(results.filter(metric="similarity", measure=list(kinds), target_layer=None))
        for (each,), block in records.groups("measure")
    ]
    tables = [(state, each, table) for state, each, table in tables if table.rows]
    if not tables:
        raise RequestError(f"these results contain no {measure} of two different languages")
    # Means of the same pairs can be compared.
    measured = [set(table.rows) for _, each, table in tables if each == measure]
    common = set.intersection(*measured or [set(table.rows) for *_, table in tables])
    if not common:
        raise RequestError(
            f"these encoders have no language pair in common, so means of {measure} over pairs cannot be compared",
            hint='plot one pair at a time: results.filter(target="…").plot()',
        )
    rows = []
    for state, each, table in tables:
        pairs = [pair for pair in table.rows if pair in common]
        for layer in table.columns if pairs else ():
            values = [table.get(pair, layer) for pair in pairs]
            value = mean_of(values).mean
            if value is None:  # one of the pairs has none
                continue
            low, high = np.quantile([cell.mean or 0.0 for cell in values], [0.1, 0.9])
            rows.append(
                {
                    "encoder": state,
                    "sentences": kinds[each],
                    "layer": layer,
                    "value": value,
                    "low": float(low),
                    "high": float(high),
                    "pairs": len(values),
                }
            )
    if not rows:
        raise RequestError(f"these results contain no {measure} of two different languages")
    numbers = {row["pairs"] for row in rows}
    over = "1 pair" if numbers == {1} else f"mean over {span(numbers)} pairs"
    layers = {row["layer"] for row in rows}
    style = similarity_style(
        list(dict.fromkeys(row["encoder"] for row in rows)), list(dict.fromkeys(row["sentences"] for row in rows))
    )
    y = alt.Y("value:Q", title=f"{metric_name(measure)}, {over}", scale=alt.Scale(zero=True))
    base = alt.Chart(inline_data(rows)).encode(layer_axis())
    tip = ("low", "high", "pairs")
    lines, points = similarity_curves(base, y, style, size=30, tooltip=tip, is_single=len(layers) == 1)
    band = base.mark_area(opacity=0.13).encode(alt.Y("low:Q"), alt.Y2("high:Q"), style.colour)
    translations = alt.datum.sentences == SENTENCE_PAIRS[""]
    chart = (band.transform_filter(translations) + lines + points).properties(width=380, height=230)
    bands = numbers != {1} and len(layers) > 1
    return styled(chart.properties(title=key("bands: 10th to 90th percentile of the pairs")) if bands else chart)


def key(*lines: str) -> Any:
    """The title of a chart that only says what its bands, bars or marks are."""
    return alt.TitleParams(list(lines), anchor="start", fontSize=11, fontWeight="normal")


def span(numbers: Iterable[int]) -> str:
    """``2 to 4`` for 2, 3 and 4; a single number stands alone."""
    ordered = sorted(set(numbers))
    return " to ".join(map(str, ordered[:1] + ordered[1:][-1:]))


def range_of_seeds(cells: Iterable[Cell]) -> str:
    """What the bars or bands of means over several seeds are; "" where none is over several."""
    seeds = {len(cell.by_seed) for cell in cells if len(cell.by_seed) > 1}
    return f"lowest and highest of {span(seeds)} seeds" if seeds else ""


@dataclass(frozen=True, slots=True)
class SimilarityStyle:
    """Colour and shape of each encoder and state, line style of each kind of sentence pairs; fields are of altair."""

    colour: Any
    shape: Any
    dash: Any


def similarity_style(encoders: Sequence[str], sentences: Sequence[str], **legend: Any) -> SimilarityStyle:
    """The style of curves of similarity.

    Args:
        encoders: names of the encoders and states, in the order of the legend.
        sentences: kinds of sentence pairs that are drawn.
        legend: options of the legends, as altair calls them.
    """
    bold = alt.Legend(symbolOpacity=1, **legend)
    colour, shape = (
        channel("encoder:N", sort=encoders, title="encoder", legend=bold, scale=alt.Scale(domain=encoders, range=marks))
        for channel, marks in ((alt.Color, list(COLOURS)), (alt.Shape, list(SHAPES)))
    )
    dashes = {kind: dash for kind, dash in DASHES.items() if kind in sentences}
    return SimilarityStyle(
        colour,
        shape,
        alt.StrokeDash(
            "sentences:N",
            sort=list(dashes),
            title="sentences",
            scale=alt.Scale(domain=list(dashes), range=list(dashes.values())),
            legend=alt.Legend(symbolOpacity=1, **LONG, **legend),
        ),
    )


def similarity_curves(
    base: Any, y: Any, style: SimilarityStyle, *, size: int, tooltip: Sequence[str] = (), is_single: bool = False
) -> tuple:
    """Lines of similarity by layer, and points on those of translations.

    Args:
        base: chart of rows with ``encoder``, ``sentences``, ``layer`` and ``value``.
        size: area of a point, in pixels; lines are as thick as suits it.
        tooltip: further columns to show under the pointer.
        is_single: whether there is a single layer, of which a line would show nothing: all kinds have points.
    """
    precise = [alt.Tooltip(f"{name}:Q", format="d" if name == "pairs" else ".3f") for name in ("value", *tooltip)]
    tip = ["encoder:N", "sentences:N", "layer:Q", *precise]
    lines = base.mark_line(strokeWidth=size**0.5 / 2.8).encode(y, style.colour, style.dash, tooltip=tip)
    points = base.mark_point(filled=True, size=size).encode(y, style.colour, style.shape, tooltip=tip)
    return lines, points if is_single else points.transform_filter(alt.datum.sentences == SENTENCE_PAIRS[""])


def pair_cells(results: Results) -> Cells:
    """Tabulate one measure in one state: one row per pair of different languages, one column per layer."""
    table = cells(results, rows=PAIR, columns=("layer",))
    return Cells(tuple(row for row in table.rows if row[0] != row[1]), table.columns, table.values)


@dataclass(frozen=True, slots=True)
class State:
    """What similarity or probes were measured on.

    Attributes:
        encoder: name of the encoder, or of both; "" if all results are of one.
        text: ``pretrained``, ``untrained``, ``fine-tuned for POS tagging, layers 1-2 re-initialised``, …
        corpus: the sentences that it was measured on; "" if they are the same everywhere.
        two: whether each language of a pair was read by an encoder of its own.
    """

    encoder: str
    text: str
    corpus: str = ""
    two: bool = False

    @property
    def described(self) -> str:
        """The state, and the corpus if it has to be named."""
        return ", ".join(filter(None, (self.text, self.corpus)))

    @property
    def name(self) -> str:
        """The encoder, if it has to be named, its state and corpus."""
        return f"{self.encoder}: {self.described}" if self.encoder else self.described


def by_state(results: Results) -> list[tuple[State, Results]]:
    """Group records of similarity or probes by encoder and state.

    Encoders, corpora and settings are named where there are several.
    """
    groups, named_corpora = [], corpus_names(results)
    for _, models in encoders_apart(results).groups("task"):
        members: dict[tuple, list[int]] = {}
        records = models.records.select(["encoder", "task", "condition", "state"]).to_pylist()
        corpora = [named_corpora[place] for place in models.columns.together(*SENTENCES).to_list()]
        apart = [_both_encoders(record) for record in disambiguated(models)]
        second = [settings_of(text).get("against_task") for text in models.records["settings"].to_pylist()]
        variants = variants_of(apart)
        for place, (record, named, *others) in enumerate(zip(records, apart, corpora, variants, second, strict=True)):
            key = (named["encoder"], *list(record.values())[1:], *others)
            members.setdefault(key, []).append(place)
        groups += [(key, Results(models.records.take(pa.array(rows, pa.int64())))) for key, rows in members.items()]
    encoders = {key[0] for key, _ in groups}
    several_corpora = len({key[4] for key, _ in groups}) > 1
    untrained = Counter(key[0] for key in {key[:3] for key, _ in groups if key[3] == "untrained"})
    named = []
    for (encoder, task, condition, state, corpus, variant, second_task), records in groups:
        words = [f"fine-tuned for {task_name(task)}" if task else str(state or "pretrained")]
        words += [f"second encoder fine-tuned for {task_name(second_task)}"] if second_task else []
        if state != "untrained" or task or untrained[encoder] > 1:
            words += done_to(condition_of(condition))
        words += [variant] if variant else []
        measured_on = corpus if corpus and several_corpora else ""
        two = "against" in settings_of(records.records["settings"][0].as_py())
        named.append((State(encoder if len(encoders) > 1 else "", ", ".join(words), measured_on, two), records))
    return named


def by_probed_state(results: Results) -> list[tuple[str, Results]]:
    """Group records of probes by what was probed; several second languages of bilingual encoders are named."""
    several = len(results.columns.coded("partner").values) > 1
    return [
        (f"{state.name}, with {partner}" if partner and several else state.name, records)
        for state, of_state in by_state(results)
        for (partner,), records in of_state.groups("partner")
    ]


SENTENCES = ("source", "target", "corpus", "corpus_digest")
"""Columns that name what a similarity was measured on; parallel sentences have a digest for each pair of languages."""


def corpus_names(results: Results) -> dict[tuple, str | None]:
    """Values of `SENTENCES` -> name of the corpus, with the number of sentences or the digest of several versions."""
    sizes: dict[tuple, dict[str, int | None]] = {}
    for *pair, corpus, digest, n in results.columns.together(*SENTENCES, "n").values:
        if digest is not None:
            sizes.setdefault((*pair, corpus), {})[digest] = n
    several = {key: of_pair for key, of_pair in sizes.items() if len(of_pair) > 1}
    alike = {key[-1] for key, of_pair in several.items() if len(set(of_pair.values())) < len(of_pair)}
    cut = {key[-1] for key in several} - alike  # versions of it have different numbers of sentences

    def name(*pair: str | None) -> str | None:
        *_, corpus, digest = pair
        if digest is None or corpus is None:
            return corpus
        of_pair = sizes[pair[:-1]]
        if corpus in cut:
            return f"{corpus} n={of_pair[digest]}"
        return f"{corpus} ({digest[:SHOWN]})" if len(of_pair) > 1 else corpus

    return {pair: name(*pair) for pair in results.columns.together(*SENTENCES).values}


def sentences_apart(results: Results) -> Results:
    """Name the corpora of similarities and probes as `corpus_names` does, so that records can be grouped by corpus."""
    names, corpora = corpus_names(results), results.columns.together("measure", *SENTENCES)
    named = [key[3] if key[0] is None else names[key[1:]] for key in corpora.values]
    return with_names(results, "corpus", corpora.changed(named))


def _both_encoders(record: Row) -> Row:
    """A record whose encoder's name includes the encoder of the second language, if that is another one."""
    settings = settings_of(record["settings"])
    against = settings.pop("against", None)
    if against is None:
        return record
    settings.pop("against_task", None)  # named in every row
    if record["state"] == "untrained":  # then both are
        settings.pop("against_condition", None)
    return {**record, "encoder": f"{record['encoder']} and {against}", "settings": settings_text(settings)}


def done_to(condition: Condition) -> list[str]:
    """Describe a condition: ``layers 1-2 re-initialised``, ``frozen 0-3``; nothing for a reference."""
    if condition.is_reference:
        return []
    return [f"layers {condition.label} re-initialised" if condition.whole_layers else condition.change]


def score_chart(results: Results) -> Chart:
    """Heat map of scores by target and condition for one task; blue: no loss against the reference.

    Models that differ in more than the condition have maps side by side, each with its own reference.

    Args:
        results: scores of one task, metric, encoder and source.

    Raises:
        RequestError: when nothing is compared with a reference; when altair is not installed.
    """
    variants = compared_scores(results)
    widest = max(scores.widest for scores in variants)
    maps = [score_map(scores, widest=widest) for scores in variants]
    if len(maps) == 1:
        return styled(maps[0])
    titled = [chart.properties(title=scores.variant) for chart, scores in zip(maps, variants, strict=True)]
    return styled(alt.concat(*titled, columns=3))


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """Scores and their differences to the reference, for a heat map.

    Attributes:
        variant: what else tells these models from others of the task; "" where nothing does.
        rows: names of targets and of means over them: the source language, then the others; as the records have them.
        columns: the conditions, each behind its reference.
        scores: (row, column) -> points, without missing ones.
        differences: (row, column) -> points gained over the reference within seeds; 0 for the reference itself.
    """

    variant: str
    rows: tuple[str, ...]
    columns: tuple[Column, ...]
    scores: Mapping[tuple[str, Column], float]
    differences: Mapping[tuple[str, Column], float]

    @property
    def widest(self) -> float:
        """Largest absolute difference, at least 5 points; the end of the colour scale."""
        return max([5.0, *map(abs, self.differences.values())])

    def above(self, other: "ComparedScores") -> "ComparedScores":
        """Put the rows of another source, which have other names, below these."""
        columns = dict.fromkeys((*self.columns, *other.columns))
        return replace(
            self,
            rows=(*self.rows, *other.rows),
            columns=tuple(sorted(columns, key=lambda column: column.order)),
            scores={**self.scores, **other.scores},
            differences={**self.differences, **other.differences},
        )


def compared_scores(results: Results) -> list[ComparedScores]:
    """Compare scores of one task, metric, encoder and source with those of the reference of each variant.

    Raises:
        RequestError: when nothing is compared with a reference.
    """
    table = score_cells(results)
    references: set[Any] = {table.reference_of(column) for column in table.columns if table.is_difference(column)}
    shown = [column for column in table.columns if column in references or table.is_difference(column)]
    if not shown:
        raise RequestError(
            "these results contain no condition with a reference to compare it with",
            hint="print(results.table()) shows them",
        )
    same, cross, unknown = parts_of(table, results.filter(measure=None).records["source"][0].as_py())
    names = row_names(table.rows)
    compared = table.compared()
    lines: dict[str, Sequence[Key]] = {}
    for part, title in ((same, "same language"), (cross, "zero-shot"), (unknown, None)):
        lines |= {names[row]: [row] for row in part}
        lines |= {f"{title}, mean of {len(part)}": part} if title and len(part) > 1 else {}
    variants = []
    for variant in dict.fromkeys(column.variant for column in shown):
        columns = tuple(column for column in shown if column.variant == variant)
        scores, differences = {}, {}
        for (name, rows), column in product(lines.items(), columns):
            score, difference = mean_row(table, rows, column), mean_row(compared, rows, column)
            if score.by_seed and (difference.by_seed or column in references):
                scores[name, column] = score.mean
                differences[name, column] = 0.0 if column in references else difference.mean
        rows = tuple(dict.fromkeys(row for row, _ in scores))
        variants.append(ComparedScores(variant, rows, columns, scores, differences))
    return variants


def row_names(rows: Sequence[Key]) -> dict[Key, str]:
    """Name rows by language, with corpus or second language of the encoder where there are several.

    A file has no folder in its name if that is enough: a long path would be cut before its end.
    """
    short = short_names({corpus: set() for _, corpus, _ in rows if corpus and "+" not in corpus})
    corpora = Counter(target for target, _ in {row[:2] for row in rows})
    partners = {row[2] for row in rows}
    names = {}
    for target, corpus, partner in rows:
        words = [target or UNKNOWN] + ([short.get(corpus, corpus)] if corpus and corpora[target] > 1 else [])
        words += [f"with {partner}"] if partner not in (None, target) and len(partners) > 1 else []
        names[target, corpus, partner] = " ".join(words)
    return names


def score_map(compared: ComparedScores, *, widest: float) -> Chart:
    """Figure 1 of Wu & Dredze (2019): scores in boxes, coloured by their differences to the reference.

    Args:
        widest: the difference of the deepest colour, in points.
    """
    reinit = all(column.condition.reinit or column.condition.is_reference for column in compared.columns)
    labels = {column: short_label(replace(column, variant="")) for column in compared.columns}
    rows = [
        {"row": row, "column": labels[column], "value": score, "difference": compared.differences[row, column]}
        for (row, column), score in compared.scores.items()
    ]
    angle = 0 if max(map(len, labels.values())) <= 6 else -40
    title = "re-initialised layers" if reinit else None
    scale = alt.Scale(scheme="redblue", domain=[-widest, widest], domainMid=0)
    return heat_map(
        rows,
        x=alt.X("column:N", sort=list(labels.values()), title=title, axis=alt.Axis(labelAngle=angle, orient="top")),
        y=alt.Y("row:N", sort=list(compared.rows), title=None),
        colour=alt.Color("difference:Q", title=["difference", "to reference", "(points)"], scale=scale),
        dark=abs(alt.datum.difference) > DARK * widest,
        formats={"value": ".1f", "difference": "+.2f"},
        width=46,
    )


DARK = 0.55
"""Part of a colour scale beyond which numbers are written in white."""


def heat_map(
    rows: Sequence[Mapping[str, Any]],
    *,
    x: Any,
    y: Any,
    colour: Any,
    dark: Any,
    formats: Mapping[str, str],
    width: int,
    title: str | list[str] = "",
) -> Chart:
    """A heat map with a number in each box.

    Args:
        dark: condition for white numbers.
        formats: number column -> its format; the first is written in the boxes, all are shown under the pointer.
        width: of a box, in pixels.
        title: of the map; a list of lines.
    """
    base = alt.Chart(inline_data(rows), title=title).encode(x, y)
    numbers = [alt.Tooltip(f"{name}:Q", format=form) for name, form in formats.items()]
    boxes = base.mark_rect().encode(colour, tooltip=[y.shorthand, x.shorthand, *numbers])
    ink = alt.condition(dark, alt.value("white"), alt.value("black"))
    (written, form), *_ = formats.items()
    text = base.mark_text(fontSize=10).encode(alt.Text(f"{written}:Q", format=form), color=ink)
    return (boxes + text).properties(width=alt.Step(width), height=alt.Step(17))


def short_label(column: Column) -> str:
    """Label of a column without the name of the unmodified encoder."""
    return column.change if column.condition.interventions and not column.condition.recipe else column.label


def layer_axis() -> Any:
    """Layers from left to right."""
    whole = "datum.value % 1 ? '' : datum.label"  # few layers have a tick between two, whatever its least step
    return alt.X("layer:Q", title="layer (0: embeddings)", axis=alt.Axis(tickMinStep=1, format="d", labelExpr=whole))


def styled(
    chart: Any, *, axis: Mapping[str, Any] = {}, title: Mapping[str, Any] = {}, background: str = "white"
) -> Any:
    """A chart in the common style.

    Args:
        axis: further options of all axes, as altair calls them.
        title: further options of all titles.
        background: colour behind the chart.
    """
    text = {"labelFontSize": 11, "titleFontSize": 11}
    axes = {**text, "titleFontWeight": "normal", "gridColor": "#e6e6e6", "labelLimit": 260}
    axes |= {"labelFlush": False}  # or the first and last number would stand beside their ticks
    config = alt.Config(
        background=background,
        font="Helvetica, Arial, sans-serif",
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(**{**axes, **axis}),
        legend=alt.LegendConfig(**text, labelLimit=400),
        header=alt.HeaderConfig(labelFontSize=12),
        title=alt.TitleConfig(**{"fontSize": 12, "fontWeight": "normal", **title}),
    )
    return chart.properties(config=config)
