"""Charts of results: similarity of translations by layer, and score differences by target and condition."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError
from crosslens.results.cells import (
    Cells,
    Column,
    Key,
    Row,
    cells,
    condition_of,
    disambiguated,
    encoders_apart,
    mean_of,
    settings_of,
    variants_of,
)
from crosslens.results.pivot import UNKNOWN, mean_row, parts_of, score_cells
from crosslens.results.record import Results

if TYPE_CHECKING:
    import altair

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
"""Okabe & Ito's, told apart by the colour-blind; line styles and shapes tell them apart in grey."""

NULLS = {"": "translations", "_length_matched": "unrelated, length-matched", "_shuffled": "unrelated"}
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


PAIR = ("source", "target", "partner")
"""Columns that name a pair of languages; for bilingual encoders with their second language."""


def similarity_chart(results: Results, *, measure: str = "cka") -> "altair.LayerChart":
    """Figures 1 and 2 of Muller et al. (2021): one line per encoder, baselines dashed; bands cover 80 % of the pairs.

    Args:
        results: similarities; other records are ignored.
        measure: measure to draw, with its baselines.

    Raises:
        RequestError: when the records hold no such similarity; when altair is not installed.
    """
    alt = grammar()
    kinds = {measure + ending: kind for ending, kind in NULLS.items()}
    rows = []
    for state, records in by_state(results.filter(metric="similarity", measure=list(kinds), target_layer=None)):
        for (each,), block in records.groups("measure"):
            table = pair_cells(block)
            for layer in table.columns if table.rows else ():
                values = [table.get(pair, layer) for pair in table.rows]
                value = mean_of(values).mean
                if value is None:  # one of the pairs has none
                    continue
                low, high = np.quantile([cell.mean or 0.0 for cell in values], [0.1, 0.9])
                rows.append(
                    {
                        "encoder": state.name,
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
    encoders = list(dict.fromkeys(row["encoder"] for row in rows))
    scale = alt.Scale(domain=encoders, range=list(COLOURS))
    bold = alt.Legend(symbolOpacity=1)
    colour = alt.Color("encoder:N", sort=encoders, title="encoder", scale=scale, legend=bold)
    shape = alt.Shape("encoder:N", sort=encoders, title="encoder", scale=alt.Scale(domain=encoders))
    dash = alt.StrokeDash("sentences:N", sort=list(NULLS.values()), title="sentences")
    numbers = sorted({row["pairs"] for row in rows})
    over = "1 pair" if numbers == [1] else f"mean over {' to '.join(map(str, numbers[:1] + numbers[1:][-1:]))} pairs"
    x, y = layer_axis(), alt.Y("value:Q", title=f"{measure}, {over}", scale=alt.Scale(domainMin=0))
    precise = [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")]
    tip = ["encoder:N", "sentences:N", "layer:Q", *precise, "pairs:Q"]
    base = alt.Chart(alt.InlineData(values=rows))
    lines = base.mark_line(strokeWidth=2).encode(x, y, colour, dash, tooltip=tip)
    points = base.mark_point(filled=True, size=30).encode(x, y, colour, shape, tooltip=tip)
    band = base.mark_area(opacity=0.13).encode(x, alt.Y("low:Q"), alt.Y2("high:Q"), colour)
    translations = alt.datum.sentences == NULLS[""]
    marks = band.transform_filter(translations) + lines + points.transform_filter(translations)
    return styled(marks.properties(width=420, height=260))


def pair_cells(results: Results) -> Cells:
    """Tabulate one measure in one state: one row per pair of different languages, one column per layer."""
    table = cells(results, rows=PAIR, columns=("layer",))
    return Cells(tuple(row for row in table.rows if row[0] != row[1]), table.columns, table.values)


@dataclass(frozen=True, slots=True)
class State:
    """What similarity or probes were measured on.

    Attributes:
        encoder: name of the encoder, or of both; "" if all results are of one.
        text: ``pretrained``, ``untrained``, ``fine-tuned for pos, layers 1-2 re-initialised``, …
    """

    encoder: str
    text: str

    @property
    def name(self) -> str:
        """The encoder, if it has to be named, and its state."""
        return f"{self.encoder}: {self.text}" if self.encoder else self.text


def by_state(results: Results) -> list[tuple[State, Results]]:
    """Group records of similarity or probes by encoder and state.

    Encoders, corpora and settings are named where there are several.
    """
    groups = []
    for _, models in encoders_apart(results).groups("task"):
        members: dict[tuple, list[int]] = {}
        records = models.records.select(["encoder", "task", "condition", "state", "corpus"]).to_pylist()
        apart = [_both_encoders(record) for record in disambiguated(models)]
        for place, (record, named, variant) in enumerate(zip(records, apart, variants_of(apart), strict=True)):
            key = (named["encoder"], *list(record.values())[1:], variant)
            members.setdefault(key, []).append(place)
        groups += [(key, Results(models.records.take(pa.array(rows, pa.int64())))) for key, rows in members.items()]
    encoders = {key[0] for key, _ in groups}
    corpora = {(key[0], key[4]) for key, _ in groups}
    untrained = Counter(key[0] for key in {key[:3] for key, _ in groups if key[3] == "untrained"})
    named = []
    for (encoder, task, condition, state, corpus, variant), records in groups:
        words = [f"fine-tuned for {task}" if task else str(state or "pretrained")]
        if state != "untrained" or task or untrained[encoder] > 1:
            words += done_to(condition_of(condition))
        words += [corpus] if corpus and sum(other == encoder for other, _ in corpora) > 1 else []
        words += [variant] if variant else []
        named.append((State(encoder if len(encoders) > 1 else "", ", ".join(words)), records))
    return named


def _both_encoders(record: Row) -> Row:
    """A record whose encoder's name includes the encoder of the second language, if that is another one."""
    settings = settings_of(record["settings"])
    against = settings.pop("against", None)
    if against is None:
        return record
    if record["state"] == "untrained":  # then both are
        settings.pop("against_condition", None)
    text = " ".join(f"{name}={value}" for name, value in settings.items())
    return record | {"encoder": f"{record['encoder']} and {against}", "settings": text or None}


def done_to(condition: Condition) -> list[str]:
    """Describe a condition: ``layers 1-2 re-initialised``, or its label; nothing for a reference."""
    if condition.is_reference:
        return []
    reinit = condition.reinit
    whole = reinit is not None and condition.recipe is None and reinit.label == reinit.layers
    return [f"layers {reinit.layers} re-initialised" if reinit and whole else condition.label]


def score_chart(results: Results) -> "altair.LayerChart":
    """Heat map of score differences by target and condition for one task; blue: no loss.

    Args:
        results: scores of one task, metric, encoder and source.

    Raises:
        RequestError: when nothing is compared with a reference; when altair is not installed.
    """
    differences = score_differences(results)
    return styled(heat_map(differences, widest=differences.widest))


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences to the reference, for a heat map.

    Attributes:
        rows: names of targets and of means.
        columns: the conditions.
        values: (row, column) -> points, without missing ones.
    """

    rows: tuple[str, ...]
    columns: tuple[Column, ...]
    values: Mapping[tuple[str, Column], float]

    @property
    def widest(self) -> float:
        """Largest absolute difference, at least 5 points; the end of the colour scale."""
        return max([5.0, *map(abs, self.values.values())])


def score_differences(results: Results) -> Differences:
    """Compute differences to the reference from scores of one task, metric, encoder and source.

    Raises:
        RequestError: when nothing is compared with a reference.
    """
    table = score_cells(results)
    columns = tuple(column for column in table.columns if table.is_difference(column))
    if not columns:
        raise RequestError(
            "these results contain no condition with a reference to compare it with",
            hint="print(results.table()) shows them",
        )
    same, cross, unknown = parts_of(table, results.filter(measure=None).records["source"][0].as_py())
    names = row_names(table.rows)
    compared = table.compared()
    rows, values = [], {}
    for part, title in ((same, "same language"), (cross, "other languages"), (unknown, None)):
        lines = {names[row]: {column: compared.get(row, column) for column in columns} for row in part}
        if part and title:
            lines[f"{title}, mean of {len(part)}"] = {column: mean_row(compared, part, column) for column in columns}
        rows += lines
        values |= {
            (name, column): cell.mean for name, line in lines.items() for column, cell in line.items() if cell.by_seed
        }
    return Differences(tuple(rows), columns, values)


def row_names(rows: Sequence[Key]) -> dict[Key, str]:
    """Name rows by language, with corpus or second language of the encoder where there are several."""
    corpora = Counter(target for target, _ in {row[:2] for row in rows})
    partners = {row[2] for row in rows}
    names = {}
    for target, corpus, partner in rows:
        words = [target or UNKNOWN] + ([corpus] if corpus and corpora[target] > 1 else [])
        words += [f"with {partner}"] if partner not in (None, target) and len(partners) > 1 else []
        names[target, corpus, partner] = " ".join(words)
    return names


def heat_map(differences: Differences, *, widest: float) -> "altair.LayerChart":
    """A heat map of differences.

    Args:
        differences: to the reference.
        widest: the difference of the deepest colour, in points.
    """
    alt = grammar()
    reinit = all(column.condition.reinit for column in differences.columns)
    labels = {column: short_label(column) for column in differences.columns}
    long = [
        {"target": row, "layers": labels[column], "value": value} for (row, column), value in differences.values.items()
    ]
    angle = 0 if max(map(len, labels.values())) <= 6 else -40
    base = alt.Chart(alt.InlineData(values=long)).encode(
        alt.X(
            "layers:N",
            sort=list(labels.values()),
            title="re-initialised layers" if reinit else None,
            axis=alt.Axis(labelAngle=angle, orient="top"),
        ),
        alt.Y("target:N", sort=list(differences.rows), title=None),
    )
    scale = alt.Scale(scheme="redblue", domain=[-widest, widest], domainMid=0)
    colour = alt.Color("value:Q", title="points", scale=scale)
    tip = ["target:N", "layers:N", alt.Tooltip("value:Q", format="+.2f")]
    boxes = base.mark_rect().encode(colour, tooltip=tip)
    ink = alt.condition(abs(alt.datum.value) > 0.55 * widest, alt.value("white"), alt.value("black"))
    numbers = base.mark_text(fontSize=10).encode(alt.Text("value:Q", format="+.1f"), color=ink)
    return (boxes + numbers).properties(width=alt.Step(46), height=alt.Step(17))


def short_label(column: Column) -> str:
    """Label of a column without the name of the unmodified encoder."""
    parts = column.condition.interventions
    words = " ".join(each.label for each in parts) if parts and all(each.follows for each in parts) else ""
    return column.label if not words or column.condition.recipe else ", ".join(filter(None, (words, column.variant)))


def layer_axis() -> Any:
    """Layers from left to right."""
    alt = grammar()
    return alt.X("layer:Q", title="layer (0: embeddings)", axis=alt.Axis(tickMinStep=1, format="d"))


def styled(chart: Any) -> Any:
    """A chart in the common style."""
    alt = grammar()
    text = {"labelFontSize": 11, "titleFontSize": 11}
    config = alt.Config(
        font="Helvetica, Arial, sans-serif",
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(**text, titleFontWeight="normal", gridColor="#e6e6e6", labelLimit=260),
        legend=alt.LegendConfig(**text, labelLimit=400),
        header=alt.HeaderConfig(labelFontSize=12),
        title=alt.TitleConfig(fontSize=12, fontWeight="normal"),
    )
    return chart.properties(config=config)
