"""What a study says of each score: mean, interval, difference to the reference, and its test."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosslens.encoders.condition import Condition
from crosslens.results.pivot import mean_name
from crosslens.runs.counts import key
from crosslens.runs.question import Score
from crosslens.runs.run import Asked, ModelRun
from crosslens.runs.store import Store
from crosslens.scores.intervals import Sample, crossed, linearised, mean_sample, q_values

if TYPE_CHECKING:
    import pandas

NAMES = ("encoder", "task", "source", "train", "corpus", "partner", "metric")
"""Columns that name what a condition is compared within."""

_STATISTICS = (
    "condition label selection recipe settings encoders seeds interval mean std low high delta delta_low delta_high p q"
)

COLUMNS = ("study", *NAMES, *_STATISTICS.split())

Names = tuple[str | None, ...]
"""Values of `NAMES`."""

Place = tuple[Names, Condition, str]
"""What is compared, the condition, and the rule that selected the weights."""


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """What the models of one condition do on one corpus.

    Attributes:
        by_seed: seed -> what each sentence adds, in points.
        described: how they were trained.
        language: of the training data.
        target: language of the corpus.
        split: of the corpus.
    """

    by_seed: dict[int, np.ndarray]
    described: Mapping[str, Any]
    language: str | None
    target: str | None
    split: str | None


def summarise(store: Store, asked: Iterable[Asked], *, study: str = "") -> "pandas.DataFrame":
    """A row for each corpus that models were evaluated on and each condition, with intervals over seeds and sentences.

    A condition is compared with the reference on the same seeds and sentences, trained on the same data under the same
    rule of selection; one with a recipe of its own under whatever rule that has, where the reference has one rule only.
    Behind these rows stand those of means over all corpora that are not in the source's language. Tests are corrected
    within the family that they belong to (`crosslens.scores.intervals.q_values`): differences on single corpora, and
    differences of means. Runs that are not done are left out.

    Args:
        store: where the runs are.
        asked: of one study, under its names.
        study: the study's name.

    Returns:
        `COLUMNS`: ``source`` is the study's name of it, ``std`` is over seeds (ddof 1); ``interval`` is what intervals
        are over, which is sentences alone for one seed; delta, delta_low, delta_high, p and q are absent for the
        reference, and p and q where only one seed is compared. ``encoders`` is ``each`` where each seed begins with an
        encoder of its own, and ``one`` where all begin with the same one: how such encoders differ is then in no
        interval and no test.
    """
    import pandas as pd

    scores = _scores(store, asked)
    frames = []
    for cells in ({place: (each,) for place, each in scores.items()}, _means(scores)):
        frame = pd.DataFrame([{"study": study, **row} for row in _rows(cells)], columns=list(COLUMNS))
        frames.append(frame.assign(q=q_values(frame["p"].to_numpy(float))))
    return pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)


def _rows(cells: Mapping[Place, Sequence[_Scores]]) -> Iterable[dict[str, Any]]:
    """A row a cell, which is of one corpus or of the mean over several."""
    rules: dict[Names, set[str]] = {}
    for names, condition, rule in cells:
        if condition.is_reference:
            rules.setdefault(names, set()).add(rule)
    for (names, condition, rule), ours in cells.items():
        only = rules.get(names, set())
        own = condition.own_recipe and len(only) == 1
        reference = cells.get((names, Condition(), next(iter(only)) if own else rule), ())
        sample = _sample([each.by_seed for each in ours])
        if sample is None:
            continue
        mean = sample.estimate()
        row = {**dict(zip(NAMES, names, strict=True)), **ours[0].described}
        row |= {"condition": condition.text, "label": condition.label, "selection": rule, "seeds": mean.seeds}
        row |= {"interval": mean.over, "mean": mean.mean, "std": mean.std}
        row |= {"low": max(mean.low, 0.0), "high": min(mean.high, 100.0)}
        compared = not condition.is_reference and len(reference) == len(ours)
        differences = (
            [_difference(a.by_seed, b.by_seed) for a, b in zip(ours, reference, strict=True)] if compared else []
        )
        sample = _sample(differences)
        if sample is not None:
            delta = sample.estimate()
            row |= {"delta": delta.mean, "delta_low": delta.low, "delta_high": delta.high, "p": delta.p}
        yield row


def _difference(ours: Mapping[int, np.ndarray], reference: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
    """On the seeds that both have."""
    return {seed: values - reference[seed] for seed, values in ours.items() if seed in reference}


def _sample(corpora: Sequence[Mapping[int, np.ndarray]]) -> Sample | None:
    """Estimate for one corpus or the mean over several, on the seeds that all have; None where there are none."""
    seeds = [seed for seed in corpora[0] if all(seed in each for each in corpora)] if corpora else []
    return mean_sample([crossed(np.stack([each[seed] for seed in seeds])) for each in corpora]) if seeds else None


def _means(scores: Mapping[Place, _Scores]) -> dict[Place, tuple[_Scores, ...]]:
    """The corpora of each mean over targets, split by split: all that are in another language than the source.

    A condition that lacks one of them has no mean, and there is none over one corpus.
    """
    groups: dict[tuple, dict[str, _Scores]] = {}
    for (names, condition, rule), each in scores.items():
        if each.target is not None and each.language is not None and each.target != each.language:
            named = dict(zip(NAMES, names, strict=True))
            corpus = named.pop("corpus")
            groups.setdefault((tuple(named.values()), each.split, condition, rule), {})[corpus or ""] = each
    means = {}
    for (named, split, condition, rule), by_corpus in groups.items():
        corpora = {corpus for other, members in groups.items() if other[:2] == (named, split) for corpus in members}
        if len(by_corpus) == len(corpora) > 1:
            members = tuple(by_corpus[corpus] for corpus in sorted(by_corpus))
            place = NAMES.index("corpus")
            name = mean_name([each.target for each in members], split)
            means[(*named[:place], name, *named[place:]), condition, rule] = members
    return means


def _scores(store: Store, asked: Iterable[Asked]) -> dict[Place, _Scores]:
    """What each sentence of each corpus adds to the score of each model."""
    scores: dict[Place, _Scores] = {}
    for each in asked:
        run = each.run
        if not isinstance(run, ModelRun) or not store.path(run.id).is_dir():
            continue
        counts, training, columns = store.counts(run.id), run.training, run.columns
        metric = training.value.metric
        records = store.answers(run.id).filter(metric=metric, measure=None).records.to_pylist()
        answers = {record["question"]: record for record in records}
        for question in each.questions:
            if not isinstance(question, Score):
                continue
            counted = counts.get(key(question.id, metric))
            if counted is None or counted.shape[1] < 2 or not counted[1].sum():
                continue
            names = (
                columns["encoder"],
                training.task,
                training.source,
                training.train.name,
                question.corpus.name,
                run.partner,
                metric,
            )
            described = {name: columns[name] for name in ("recipe", "settings")}
            described["encoders"] = "one" if run.base.shared else "each"
            answer = answers[question.id]
            of_corpus = _Scores({}, described, training.language, answer["target"], answer["split"])
            of_corpus = scores.setdefault((names, run.condition, training.selection), of_corpus)
            of_corpus.by_seed[run.seed] = linearised(counted[:1], counted[1:])[0]
    return scores
