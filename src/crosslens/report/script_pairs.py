"""Scores before and after transliteration (Muller 2022): a table and a figure."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from crosslens.corpora.catalogue import split_scheme, split_slice
from crosslens.corpora.collection import is_trained_language
from crosslens.errors import RequestError
from crosslens.report.blocks import Trained, trained_scores
from crosslens.report.table import Cell, Notes, Row, Table, cell_of
from crosslens.results import cells
from crosslens.results.cells import pick_one, without_digest
from crosslens.results.chart import COLOURS, Chart, alt, inline_data, styled
from crosslens.results.record import Results
from crosslens.scores.intervals import half_width
from crosslens.tasks.titles import as_printed
from crosslens.unseen.typology import language_name

ORIGINAL, TRANSLITERATED = "original script", "transliterated"
IN_EACH = "in each script"


@dataclass(frozen=True, slots=True)
class Pair:
    """Scores of one model on a corpus in its original script, and transliterated.

    Attributes:
        group: task, metric, and whether the models were trained on the language.
        label: language, corpus, scheme and model, and the training data where models of one name have several.
        original: score in the original script.
        transliterated: score after transliteration.
    """

    group: str
    label: str
    original: cells.Cell
    transliterated: cells.Cell

    @property
    def difference(self) -> cells.Cell:
        """Transliterated minus original, within seeds."""
        return self.transliterated.minus(self.original)


def script_pairs(results: Results) -> list[Pair]:
    """Pair scores of corpora with scores of the same corpora in another script.

    Zero-shot, a model is tested on both. Trained on the language, or on another one in each script, one model was
    trained and tested on the original and another one on the transliterated corpora.
    """
    if not any(_scheme(corpus)[1] for corpus in results.columns.coded("corpus").values if corpus):
        return []
    scores = trained_scores(results)
    originals = {
        (score.task, score.model, score.train, score.corpus): score for score in scores if not _scheme(score.corpus)[1]
    }
    several = len({score.model for score in scores}) > 1
    pairs: list[tuple[Pair, str]] = []
    for score in scores:
        corpus, scheme = _scheme(score.corpus)
        train, of_train = _scheme(score.train)
        original = originals.get((score.task, score.model, train, corpus))
        if not scheme or original is None or of_train not in ("", scheme):
            continue
        source = original.source or train
        trained = original.target is not None and is_trained_language(original.target, original.source)
        if trained:
            setting = "trained on the language" if of_train else f"trained on {source}"
        else:
            setting = f"zero-shot from {source} {IN_EACH}" if of_train else f"zero-shot from {source}"
        label = [
            language_name(original.target or ""),
            f"{split_slice(corpus)[0]}, {scheme}",
            score.model if several else "",
        ]
        group = f"{score.task}, {score.metric}, {setting}"
        pairs.append((Pair(group, ", ".join(filter(None, label)), original.score, score.score), train))
    versions = _versions(scores)
    if versions and not pairs:
        raise RequestError(
            f"versions of a corpus cannot be paired with its transliterations: {', '.join(versions)}",
            hint=pick_one("corpus"),
        )
    alike = Counter((pair.group, pair.label) for pair, _ in pairs)
    named = [
        replace(pair, label=f"{pair.label}, trained on {train}") if alike[pair.group, pair.label] > 1 else pair
        for pair, train in pairs
    ]
    order = list(dict.fromkeys(pair.group for pair in named))
    return sorted(named, key=lambda pair: order.index(pair.group))


def scripts(results: Results) -> list[Table]:
    """Scores in the original script, transliterated, and the difference; one table, or none without such corpora."""
    pairs = script_pairs(results)
    if not pairs:
        return []
    notes = Notes()
    intervals = {id(pair): _interval(pair.difference) for pair in pairs}
    tested = any(intervals.values())
    groups: dict[str, tuple[Row, ...]] = {}
    for pair in pairs:
        most = cells.most_seeds(
            cell for each in pairs if each.group == pair.group for cell in (each.original, each.transliterated)
        )
        shown = [
            cell_of(pair.original, "score", notes, most=most),
            cell_of(pair.transliterated, "score", notes, most=most),
            cell_of(pair.difference, "difference", notes, most=most),
        ]
        low, high = intervals[id(pair)] or (None, None)
        shown += [Cell(low, "vs_paper"), Cell(high, "vs_paper")] if tested else []
        groups[pair.group] = (*groups.get(pair.group, ()), Row(pair.label, tuple(shown)))
    caption = (
        "Scores of corpora in their original script and transliterated, mean over seeds. Zero-shot: one model is tested"
        " on both. Trained on the language: one model is trained and tested on each."
    )
    if any(pair.group.endswith(IN_EACH) for pair in pairs):
        caption += " In each script: one model is trained on the source language, and tested, in each."
    if versions := _versions(trained_scores(results)):
        caption += f" Versions of a corpus cannot be paired: {', '.join(versions)}."
    caption += " Low, high: 95 % confidence interval of the difference over seeds." if tested else ""
    head = (ORIGINAL, TRANSLITERATED, "Δ", *(("low", "high") if tested else ()))
    return [Table("scripts", caption, head, groups, tuple(notes.texts))]


def _versions(scores: Sequence[Trained]) -> list[str]:
    """Corpora of several versions, each with its digest, of which transliterations were tested."""
    in_scripts = {corpus for corpus, scheme in (_scheme(without_digest(score.corpus)) for score in scores) if scheme}
    names = dict.fromkeys(score.corpus for score in scores)
    return [name for name in names if name != without_digest(name) and without_digest(name) in in_scripts]


def script_figure(results: Results) -> Chart:
    """Both scores of each pair on one line, one panel for each task and setting."""
    pairs = script_pairs(results)
    if not pairs:
        raise RequestError("these results contain no corpus in two scripts")
    panels = [
        _panel([pair for pair in pairs if pair.group == group], group)
        for group in dict.fromkeys(pair.group for pair in pairs)
    ]
    return styled(alt.vconcat(*panels))


def _panel(pairs: Sequence[Pair], title: str) -> Chart:
    kinds = (ORIGINAL, TRANSLITERATED)
    rows = [
        {"language": pair.label, "script": kind, "score": cell.mean}
        for pair in pairs
        for kind, cell in zip(kinds, (pair.original, pair.transliterated), strict=True)
    ]
    order = list(dict.fromkeys(row["language"] for row in rows))
    axis = alt.Axis(labelLimit=360, grid=True)
    base = alt.Chart(inline_data(rows), title=as_printed(title)).encode(
        alt.Y("language:N", sort=order, title=None, axis=axis)
    )
    legend = alt.Legend(orient="bottom", symbolOpacity=1)
    line = base.mark_rule(color="#999999", strokeWidth=2).encode(alt.X("min(score):Q"), alt.X2("max(score):Q"))
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        alt.X("score:Q", title="score, points", scale=alt.Scale(zero=False)),
        alt.Color("script:N", sort=kinds, title=None, scale=alt.Scale(domain=kinds, range=COLOURS[:2]), legend=legend),
        alt.Shape("script:N", sort=kinds, title=None, scale=alt.Scale(domain=kinds), legend=legend),
        tooltip=["language:N", "script:N", alt.Tooltip("score:Q", format=".1f")],
    )
    return (line + points).properties(width=320, height=alt.Step(17))


def _interval(difference: cells.Cell) -> tuple[float, float] | None:
    """95 % interval over seeds; None with fewer than two."""
    seeds = len(difference.by_seed)
    if difference.mean is None or difference.std is None:
        return None
    half = float(half_width(difference.std**2 / seeds, seeds))
    return (difference.mean - half, difference.mean + half) if math.isfinite(half) else None


def _scheme(name: str) -> tuple[str, str]:
    """A corpus without its transliterations, and what they are.

    >>> _scheme("ud/ug_udt:test[:300]@uroman")
    ('ud/ug_udt:test[:300]', 'uroman')
    """
    schemes: list[str] = []
    while True:
        bare, _ = split_slice(name)
        original, scheme = split_scheme(bare)
        if not scheme:
            return name, " then ".join(reversed(schemes))
        schemes.append(scheme.removeprefix("@"))
        name = original + name.removeprefix(bare)
