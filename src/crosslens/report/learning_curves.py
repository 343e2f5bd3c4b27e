"""Scores by amount of training data (Muller 2022): a table and a figure."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from crosslens.corpora.catalogue import split_joined, split_slice
from crosslens.data.corpus import JOIN
from crosslens.errors import RequestError
from crosslens.report.blocks import trained_scores
from crosslens.report.table import Notes, Row, Table, cell_of
from crosslens.results import cells
from crosslens.results.chart import COLOURS, Chart, alt, inline_data, styled
from crosslens.results.record import Results, concatenated, remembered
from crosslens.tasks.titles import as_printed
from crosslens.unseen.typology import language_name


@dataclass(frozen=True, slots=True)
class Curve:
    """Scores of one kind of model on one corpus by amount of training data.

    Attributes:
        metric: its main score.
        language: the language evaluated on.
        train: the training corpus that varies in size, without slice and limit.
        corpus: what was evaluated on.
        model: name of the kind of model.
        beside: the corpora that it was trained on besides; "" if there are none.
        by_amount: number of training sentences of ``train`` -> score; 0 is the score without it.
    """

    task: str
    metric: str
    language: str
    train: str
    corpus: str
    model: str
    beside: str
    by_amount: dict[int, cells.Cell]

    @property
    def label(self) -> str:
        """The kind of model, with what it was trained on besides."""
        return f"{self.model}, beside {self.beside}" if self.beside else self.model


@remembered
def learning_curves(results: Results) -> list[Curve]:
    """Every kind of model on every corpus for which a model was trained on several amounts of one training corpus."""
    apart = cells.training_data_apart(results)
    names = dict(zip(*(each.records["train"].to_pylist() for each in (apart, results)), strict=True))
    results = _by_limit(apart)
    parts = _varying_parts(_sentences(results, names), names)
    sizes: dict[str, set[int]] = {}
    for part in parts.values():
        sizes.setdefault(part.corpus, set()).update(part.amounts)
    if all(len(of_corpus) < 2 for of_corpus in sizes.values()):
        return []
    scores = trained_scores(results)
    without = {(each.task, each.metric, each.model, each.corpus, each.train): each.score for each in scores}
    curves: dict[tuple, Curve] = {}
    of_model: dict[tuple, set[int]] = {}
    for score in scores:
        if score.train not in parts:
            continue
        part = parts[score.train]
        panel = (score.task, score.metric, score.target or "?", part.corpus, score.corpus)
        version = score.train.partition(LIMIT)[0]
        key = (*panel, score.model if names[version] == version else f"{score.model}, {version}", part.beside)
        if key in curves and part.amount in curves[key].by_amount:  # another part of the corpus, as large
            key = (*panel, f"{score.model}, {score.train}", "")
        alone = without.get((score.task, score.metric, score.model, score.corpus, part.beside))
        points = {part.amount: score.score} | ({} if alone is None else {0: alone})
        curves.setdefault(key, Curve(*key, {})).by_amount.update(points)
        of_model.setdefault((*panel, score.model, part.beside), set()).update(points)
    several = {key[:5] for key, of_one in of_model.items() if len(of_one) > 1}
    return [curve for key, curve in curves.items() if key[:5] in several]


def curves_by_panel(curves: list[Curve]) -> dict[str, list[Curve]]:
    """Curves by what they were tested on: ``pos, accuracy, Wolof; ud/wo_wtb:train, tested on ud/wo_wtb:test``."""
    panels: dict[str, list[Curve]] = {}
    for curve in curves:
        title = f"{curve.task}, {curve.metric}, {language_name(curve.language)}; {curve.train}, on {curve.corpus}"
        panels.setdefault(title, []).append(curve)
    return panels


def caption(curves: Iterable[Curve]) -> str:
    """Say what curves show."""
    joined = any(0 in curve.by_amount for curve in curves)
    text = " Of joined corpora, the one that varies is counted; 0: the others alone."
    return "Scores by number of training sentences, mean over seeds." + text * joined


def amounts(results: Results) -> list[Table]:
    """Scores by number of training sentences, one column per kind of model; one table, or none."""
    curves = learning_curves(results)
    if not curves:
        return []
    models = list(dict.fromkeys(curve.label for curve in curves))
    notes = Notes()
    groups: dict[str, tuple[Row, ...]] = {}
    for title, panel in curves_by_panel(curves).items():
        by_model = {curve.label: curve.by_amount for curve in panel}
        most = cells.most_seeds(cell for curve in panel for cell in curve.by_amount.values())
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
    return [Table("learning-curves", caption(curves), tuple(models), groups, tuple(notes.texts))]


def learning_curve_figure(results: Results) -> Chart:
    """Score by number of training sentences: a panel for each test corpus, a line for each kind of model."""
    curves = learning_curves(results)
    if not curves:
        raise RequestError("these results contain no models trained on several amounts of data")
    models = list(dict.fromkeys(curve.label for curve in curves))
    scale = alt.Scale(domain=models, range=list(COLOURS))
    legend = alt.Legend(orient="bottom", symbolOpacity=1, labelLimit=320)
    charts = []
    for title, panel in curves_by_panel(curves).items():
        rows = [
            {"model": curve.label, "sentences": amount, "score": cell.mean}
            for curve in panel
            for amount, cell in sorted(curve.by_amount.items())
        ]
        amounts = sorted({row["sentences"] for row in rows})
        seeds = sorted({len(cell.by_seed) for curve in panel for cell in curve.by_amount.values() if cell.by_seed})
        words = [
            *as_printed(title).split("; "),
            *([f"means over {seeds[0]} to {seeds[-1]} seeds"] if seeds[1:] else []),
        ]
        base = alt.Chart(inline_data(rows), title=alt.Title(words, limit=260)).encode(
            _axis(amounts),
            alt.Y("score:Q", title="score, points", scale=alt.Scale(zero=False)),
            alt.Color("model:N", sort=models, title=None, scale=scale, legend=legend),
            tooltip=["model:N", "sentences:Q", alt.Tooltip("score:Q", format=".1f")],
        )
        shape = alt.Shape("model:N", sort=models, title=None, scale=alt.Scale(domain=models), legend=legend)
        points = base.mark_point(filled=True, size=40, opacity=1).encode(shape)
        charts.append((base.mark_line(strokeWidth=2) + points).properties(width=165, height=140))
    return styled(alt.concat(*charts, columns=3))


def _axis(amounts: list[int]) -> Any:
    """A logarithmic axis with room for 0; its labels do not overlap, the largest amount's and that of 0 among them."""
    least, most = next(filter(None, amounts)), amounts[-1]
    places = {amount: math.log1p(amount / least) if 0 in amounts else math.log(amount) for amount in amounts}
    apart = 0.2 * (places[most] - places[amounts[0]])
    labels = [most, 0] if 0 in amounts else [most]
    for amount in reversed(amounts):
        if all(abs(places[amount] - places[label]) >= apart for label in labels):
            labels.append(amount)
    kind = alt.Scale(type="symlog", constant=least) if 0 in amounts else alt.Scale(type="log", nice=False)
    axis = alt.Axis(values=labels, format=",d", labelOverlap=False, grid=False)
    return alt.X("sentences:Q", title="training sentences", scale=kind, axis=axis)


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


@dataclass(frozen=True, slots=True)
class _Part:
    """The part of training data whose size varies.

    Attributes:
        corpus: its name without slice and limit.
        beside: the corpora joined with it; "" if it stands alone.
        amount: its number of sentences.
        amounts: its numbers of sentences in all training data that differ in nothing else.
    """

    corpus: str
    beside: str
    amount: int
    amounts: frozenset[int] = frozenset()


def _varying_parts(sentences: Mapping[str, int], names: Mapping[str | None, str]) -> dict[str, _Part]:
    """Find the part of each training corpus that varies most in size among these; of several, the last one.

    Args:
        sentences: training corpus as shown, with its limit -> number of sentences.
        names: training corpus as shown, without its limit -> its own name.
    """
    parts = {train: _parts(train, sentences, names) for train in sentences}
    amounts: dict[tuple[str, str], set[int]] = {}
    for of_one in parts.values():
        for part in of_one:
            alone = {0} if part.beside in sentences else set()
            amounts.setdefault((part.corpus, part.beside), alone).add(part.amount)
    alike = {
        train: [replace(part, amounts=frozenset(amounts[part.corpus, part.beside])) for part in of_one]
        for train, of_one in parts.items()
    }
    return {train: max(reversed(of_one), key=lambda part: len(part.amounts)) for train, of_one in alike.items()}


def _parts(train: str, sentences: Mapping[str, int], names: Mapping[str | None, str]) -> list[_Part]:
    """Parts of training data; joined corpora are one part if it is unknown how large each one is.

    It is known from models trained on the part alone, or else from its slice; of one part, it is what the others leave.
    """
    name, _, limit = train.partition(LIMIT)
    joined = split_joined(names[name])
    alone = [sentences.get(part) for part in joined]
    sizes = [_size(part) if size is None else size for part, size in zip(joined, alone, strict=True)]
    for known in (sizes, alone):
        if known.count(None) == 1:
            left = known.index(None)
            sizes[left] = sentences[train] - sum(size or 0 for place, size in enumerate(sizes) if place != left)
    counts = [size for size in sizes if size is not None and size > 0]
    if len(joined) == 1 or limit or len(counts) < len(joined) or sum(counts) != sentences[train]:
        return [_Part(JOIN.join((*joined[:-1], split_slice(joined[-1])[0])), "", sentences[train])]
    return [
        _Part(split_slice(part)[0], JOIN.join((*joined[:place], *joined[place + 1 :])), count)
        for place, (part, count) in enumerate(zip(joined, counts, strict=True))
    ]


def _size(name: str) -> int | None:
    """Number of sentences of a slice, if it says so."""
    cut = split_slice(name)[1]
    return None if cut.end is None else cut.end - (cut.begin or 0)


def _sentences(results: Results, names: Mapping[str | None, str]) -> dict[str, int]:
    """Number of training sentences of each training corpus, as recorded, or else as its slices or limit say."""
    sentences: dict[str, int] = {}
    for train, text in results.columns.together("train", "tags").values:
        if train is not None and train not in sentences:
            name, _, limit = train.partition(LIMIT)
            sizes = [_size(part) for part in split_joined(names[name])]
            upper = [int(limit)] if limit else []
            upper += [sum(filter(None, sizes))] if None not in sizes else []
            size = json.loads(text).get("training_train_sentences", min(upper, default=None))
            if size is not None:
                sentences[train] = int(size)
    return sentences
