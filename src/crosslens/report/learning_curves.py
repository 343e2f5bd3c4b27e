"""Scores by amount of training data (Muller 2022): a table and a figure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from crosslens.corpora.catalogue import split_joined, split_slice
from crosslens.data.corpus import JOIN
from crosslens.errors import RequestError
from crosslens.report.blocks import trained_scores
from crosslens.report.table import Notes, Row, Table, cell_of, most_seeds
from crosslens.results import cells
from crosslens.results.chart import COLOURS, Chart, alt, inline_data, styled
from crosslens.results.record import Results, concatenated
from crosslens.tasks.titles import as_printed
from crosslens.unseen.typology import language_name


@dataclass(frozen=True, slots=True)
class Curve:
    """Scores of one kind of model on one corpus by amount of training data.

    Attributes:
        metric: its main score.
        language: the language evaluated on.
        train: the training corpus, without slice and limit.
        corpus: what was evaluated on.
        model: name of the kind of model.
        by_amount: number of training sentences -> score.
    """

    task: str
    metric: str
    language: str
    train: str
    corpus: str
    model: str
    by_amount: dict[int, cells.Cell]


def learning_curves(results: Results) -> list[Curve]:
    """Every kind of model on every corpus for which a model was trained on several amounts of one training corpus."""
    apart = cells.training_data_apart(results)
    names = dict(zip(*(each.records["train"].to_pylist() for each in (apart, results)), strict=True))
    results = _by_limit(apart)
    sentences = _sentences(results, names)
    sizes: dict[str, set[int]] = {}
    for train, size in sentences.items():
        sizes.setdefault(_uncut(train, names)[0], set()).add(size)
    if all(len(of_corpus) < 2 for of_corpus in sizes.values()):
        return []
    curves: dict[tuple, Curve] = {}
    of_model: dict[tuple, set[int]] = {}
    for score in trained_scores(results):
        if score.train not in sentences:
            continue
        whole = _uncut(score.train, names)[0]
        amount = sentences[score.train]
        panel = (score.task, score.metric, score.target or "?", whole, score.corpus)
        version = score.train.partition(LIMIT)[0]
        key = (*panel, score.model if names[version] == version else f"{score.model}, {version}")
        if key in curves and amount in curves[key].by_amount:  # another part of the corpus, as large
            key = (*panel, f"{score.model}, {score.train}")
        curves.setdefault(key, Curve(*key, {})).by_amount[amount] = score.score
        of_model.setdefault((*panel, score.model), set()).add(amount)
    several = {key[:5] for key, of_one in of_model.items() if len(of_one) > 1}
    return [curve for key, curve in curves.items() if key[:5] in several]


def amounts(results: Results) -> list[Table]:
    """Scores by number of training sentences, one column per kind of model; one table, or none."""
    curves = learning_curves(results)
    if not curves:
        return []
    models = list(dict.fromkeys(curve.model for curve in curves))
    notes = Notes()
    groups: dict[str, tuple[Row, ...]] = {}
    for title, panel in _panels(curves).items():
        by_model = {curve.model: curve.by_amount for curve in panel}
        most = most_seeds(cell for curve in panel for cell in curve.by_amount.values())
        groups[title] = tuple(
            Row(
                f"{amount:,}",
                tuple(
                    cell_of(by_model.get(model, {}).get(amount, cells.EMPTY), "score", notes, most=most)
                    for model in models
                ),
            )
            for amount in sorted({amount for curve in panel for amount in curve.by_amount})
        )
    caption = "Scores by number of training sentences, mean over seeds."
    return [Table("learning-curves", caption, tuple(models), groups, tuple(notes.texts))]


def learning_curve_figure(results: Results) -> Chart:
    """Score by number of training sentences: a panel for each test corpus, a line for each kind of model."""
    curves = learning_curves(results)
    if not curves:
        raise RequestError("these results contain no models trained on several amounts of data")
    models = list(dict.fromkeys(curve.model for curve in curves))
    scale = alt.Scale(domain=models, range=list(COLOURS))
    legend = alt.Legend(orient="bottom", symbolOpacity=1, labelLimit=320)
    charts = []
    for title, panel in _panels(curves).items():
        rows = [
            {"model": curve.model, "sentences": amount, "score": cell.mean}
            for curve in panel
            for amount, cell in sorted(curve.by_amount.items())
        ]
        ticks = sorted({row["sentences"] for row in rows})
        axis = alt.Axis(values=_apart(ticks), format=",d", labelOverlap=False, grid=False)
        seeds = sorted({len(cell.by_seed) for curve in panel for cell in curve.by_amount.values() if cell.by_seed})
        words = [
            *as_printed(title).split("; "),
            *([f"means over {seeds[0]} to {seeds[-1]} seeds"] if seeds[1:] else []),
        ]
        base = alt.Chart(inline_data(rows), title=alt.Title(words, limit=260)).encode(
            alt.X("sentences:Q", title="training sentences", scale=alt.Scale(type="log", nice=False), axis=axis),
            alt.Y("score:Q", title="score, points", scale=alt.Scale(zero=False)),
            alt.Color("model:N", sort=models, title=None, scale=scale, legend=legend),
            tooltip=["model:N", "sentences:Q", alt.Tooltip("score:Q", format=".1f")],
        )
        shape = alt.Shape("model:N", sort=models, title=None, scale=alt.Scale(domain=models), legend=legend)
        points = base.mark_point(filled=True, size=40, opacity=1).encode(shape)
        charts.append((base.mark_line(strokeWidth=2) + points).properties(width=165, height=140))
    return styled(alt.concat(*charts, columns=3))


def _panels(curves: list[Curve]) -> dict[str, list[Curve]]:
    """Curves by what they were tested on: ``pos, accuracy, Wolof; ud/wo_wtb:train, tested on ud/wo_wtb:test``."""
    panels: dict[str, list[Curve]] = {}
    for curve in curves:
        title = f"{curve.task}, {curve.metric}, {language_name(curve.language)}; {curve.train}, on {curve.corpus}"
        panels.setdefault(title, []).append(curve)
    return panels


def _apart(ticks: list[int]) -> list[int]:
    """Those of ascending amounts whose labels do not overlap on the axis, the largest among them."""
    kept: list[int] = []
    for tick in reversed(ticks):
        if not kept or kept[-1] / tick >= (ticks[-1] / ticks[0]) ** 0.2:
            kept.append(tick)
    return kept


def _by_limit(results: Results) -> Results:
    """Move the recipe's limit from the settings to the name of the training data: ``ud/en_ewt:train limit=300``."""
    if not any(text and _LIMIT.search(text) for text in results.columns.coded("settings").values):
        return results
    parts = []
    for (train, settings), records in results.groups("train", "settings"):
        limit = _LIMIT.search(settings or "")
        moved: dict[str, str | None] = {}
        if train is not None and limit:
            moved = {
                "train": f"{train}{LIMIT}{limit[1]}",
                "settings": " ".join(_LIMIT.sub("", settings).split()) or None,
            }
        parts.append(records.with_columns(**moved))  # without columns too, so that no part stays encoded
    return concatenated(parts)


LIMIT = " limit="
"""What stands between a training corpus and its limit."""

_LIMIT = re.compile(r"(?<!\S)limit=(\d+)(?!\S)")


def _uncut(train: str, names: Mapping[str | None, str]) -> tuple[str, int | None]:
    """A training corpus without its slice and limit, and the number of sentences that these leave, if they say so.

    Of joined corpora, the slice is that of the last one.

    Args:
        train: as shown, with its limit.
        names: training corpus as shown, without its limit -> its own name.
    """
    name, _, limit = train.partition(LIMIT)
    parts = split_joined(names[name])
    whole = JOIN.join((*parts[:-1], split_slice(parts[-1])[0]))
    cuts = [(cut.begin or 0, cut.end) for _, cut in map(split_slice, parts)]
    ends = [end - begin for begin, end in cuts if end is not None]
    sizes = [int(limit)] if limit else []
    sizes += [sum(ends)] if len(ends) == len(parts) else []
    return whole, min(sizes, default=None)


def _sentences(results: Results, names: Mapping[str | None, str]) -> dict[str, int]:
    """Number of training sentences of each training corpus, as recorded, or else as its slice or limit says."""
    sentences: dict[str, int] = {}
    for train, text in results.columns.together("train", "tags").values:
        if train is not None and train not in sentences:
            size = json.loads(text).get("training_train_sentences", _uncut(train, names)[1])
            if size is not None:
                sentences[train] = int(size)
    return sentences
