"""Summarise the scores of a study: means, intervals, differences from the reference, and significance tests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from crosslens.corpora.collection import is_trained_language
from crosslens.encoders.condition import Condition
from crosslens.results.pivot import common_split, mean_name
from crosslens.results.record_rows import Row
from crosslens.runs.counts import Counts, key
from crosslens.runs.question import IntervenedScore, Score
from crosslens.runs.run import Asked, ModelRun
from crosslens.runs.store import RUNS_IN_MEMORY, Store
from crosslens.scores.intervals import Sample, estimates, linearised, mean_sample, q_values
from crosslens.scores.unpaired import sample_of

if TYPE_CHECKING:
    import pandas

NAMES = ("encoder", "task", "source", "train", "corpus", "partner", "metric")
"""Columns within which conditions are compared."""

_STATISTICS = (
    "condition label selection recipe settings encoders seeds interval mean std low high delta delta_low delta_high p q"
)

COLUMNS = ("study", *NAMES, *_STATISTICS.split())

SOURCE = NAMES.index("source")

Names = tuple[str | None, ...]
"""Values of `NAMES`."""

CellKey = tuple[Names, Condition, str]
"""Values of `NAMES`, the condition, and the checkpoint selection rule."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of one condition on one corpus.

    Attributes:
        by_seed: seed -> ``(sentences,)`` contributions of each sentence in points, or an `Unpaired`.
        described: recipe, settings and encoders.
        language: language of the training data.
    """

    by_seed: dict[int, Any]
    described: Mapping[str, Any]
    language: str | None
    target: str | None
    split: str | None


def summarise(store: Store, asked: Iterable[Asked], *, study: str = "") -> "pandas.DataFrame":
    """Summarise scores per corpus and condition, with intervals over seeds and sentences.

    Each condition is compared with the reference on the same seeds and sentences, with the same training data and
    selection rule. A condition with its own recipe may have another selection rule, if the reference has only one. The
    last rows are means over all corpora in the source language, and over all others. Tests are corrected within two
    families (`crosslens.scores.intervals.q_values`): differences on single corpora, and differences of means.
    Unfinished runs are left out.

    Returns:
        A frame with `COLUMNS`. ``source`` is the name of the source in the study, or of a mean over the corpora of
        several sources, their names; ``std`` is over seeds (ddof 1); ``interval`` says what intervals are over: with
        one seed, sentences alone, as are those of differences without p. delta, delta_low, delta_high, p and q are
        missing for the reference; p and q are also missing if only one seed is compared. ``encoders`` is ``each`` if
        each seed starts from its own encoder, and ``one`` if all seeds start from the same encoder; intervals and tests
        then do not include the variation between encoders.
    """
    return summary_of([_scores(store, asked)], study=study)


def summary_of(parts: Sequence[Mapping[CellKey, Scores]], *, study: str) -> "pandas.DataFrame":
    """Summarise scores as `summarise` does.

    Args:
        parts: scores that are compared apart, but tested together.
    """
    single = [{cell: (of_corpus,) for cell, of_corpus in scores.items()} for scores in parts]
    families = (single, [_means(scores) for scores in parts])
    return corrected(
        [[{"study": study, **row} for cells in family for row in _rows(cells)] for family in families], COLUMNS
    )


def corrected(families: Iterable[Sequence[Mapping[str, Any]]], columns: Sequence[str]) -> "pandas.DataFrame":
    """Table of families of tests, one below the other, with q-values for the p-values of each."""
    import pandas as pd

    frames = [pd.DataFrame(rows, columns=list(columns)) for rows in families]
    frames = [frame.assign(q=q_values(frame["p"].to_numpy(float))) for frame in frames]
    return pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)


def _rows(cells: Mapping[CellKey, Sequence[Scores]]) -> list[dict[str, Any]]:
    """A row for each cell, which is one corpus or the mean over several."""
    rules: dict[tuple[Names, Condition], set[str]] = {}
    for names, condition, rule in cells:
        if condition == condition.reference:
            rules.setdefault((names, condition), set()).add(rule)
    rows, means, compared, differences = [], [], [], []
    for (names, condition, rule), scores in cells.items():
        sample = pooled([of_corpus.by_seed for of_corpus in scores])
        if sample is None:
            continue
        row = {**dict(zip(NAMES, names, strict=True)), **scores[0].described}
        row |= {"condition": condition.text, "label": condition.label, "selection": rule}
        rows.append(row)
        means.append(sample)
        reference_rules = rules.get((names, condition.reference), set())
        any_rule = condition.own_recipe and len(reference_rules) == 1
        reference = cells.get((names, condition.reference, next(iter(reference_rules)) if any_rule else rule), ())
        if condition != condition.reference and len(reference) == len(scores):
            sample = pooled([difference(a.by_seed, b.by_seed) for a, b in zip(scores, reference, strict=True)])
            if sample is not None:
                compared.append(row)
                differences.append(sample)
    for row, mean in zip(rows, estimates(means), strict=True):
        row |= {"seeds": mean.seeds, "interval": mean.over, "mean": mean.mean, "std": mean.std}
        row |= {"low": max(mean.low, 0.0), "high": min(mean.high, 100.0)}
    for row, delta in zip(compared, estimates(differences), strict=True):
        row |= {"delta": delta.mean, "delta_low": delta.low, "delta_high": delta.high, "p": delta.p}
    return rows


def difference(scores: Mapping[int, Any], reference: Mapping[int, Any]) -> dict[int, Any]:
    """Subtract the reference, on the seeds that both have."""
    return {seed: values - reference[seed] for seed, values in scores.items() if seed in reference}


def pooled(corpora: Sequence[Mapping[int, Any]]) -> Sample | None:
    """Pool one corpus, or the mean over several, on the seeds that all corpora have; None without such seeds."""
    seeds = [seed for seed in corpora[0] if all(seed in by_seed for by_seed in corpora)] if corpora else []
    if not seeds:
        return None
    return mean_sample([sample_of([by_seed[seed] for seed in seeds]) for by_seed in corpora])


def _means(scores: Mapping[CellKey, Scores]) -> dict[CellKey, tuple[Scores, ...]]:
    """Return the corpora of each mean, per split: all corpora in the source language, and all others.

    Single corpora, and conditions that lack one of the corpora, have none. Bilingual encoders that were tested on their
    own language have a mean over encoders too, without a partner; sources that share their training data, one over the
    corpora of all of them.
    """
    sharing: dict[tuple, dict[str | None, None]] = {}
    for (names, _, _), score in scores.items():
        sharing.setdefault((_model(names), score.language), {})[names[SOURCE]] = None
    of_files = common_split(score.split for score in scores.values())
    groups: dict[tuple, dict[tuple[str, str], Scores]] = {}
    for (names, condition, rule), score in scores.items():
        if score.target is not None and score.language:
            by_name = dict(zip(NAMES, names, strict=True))
            corpus, partner = by_name.pop("corpus") or "", by_name["partner"] or ""
            sources = dict.fromkeys((names[SOURCE], ", ".join(map(str, sharing[_model(names), score.language]))))
            partners = dict.fromkeys((partner, "" if partner == score.target else partner))
            for over, source in product(partners, sources):
                of = tuple({**by_name, "partner": over or None, "source": source}.values())
                same = is_trained_language(score.target, score.language)
                group = (of, score.split or of_files, same, condition, rule)
                groups.setdefault(group, {})[partner, corpus] = score
    means = {}
    for (names, split, same, condition, rule), members in groups.items():
        everything = {member for other, of in groups.items() if other[:3] == (names, split, same) for member in of}
        partners = {partner for partner, _ in members}
        one_encoder = names[NAMES.index("partner") - 1] is None and partners != {""} and len(partners) == 1
        if len(members) == len(everything) > 1 and not one_encoder:
            ordered = tuple(members[member] for member in sorted(members))
            index = NAMES.index("corpus")
            name = mean_name([score.target for score in ordered], split, source=ordered[0].language)
            means[(*names[:index], name, *names[index:]), condition, rule] = ordered
    return means


def _model(names: Names) -> Names:
    """Encoder, task, training data and metric."""
    named = dict(zip(NAMES, names, strict=True))
    return tuple(named[column] for column in ("encoder", "task", "train", "metric"))


def _scores(store: Store, asked: Iterable[Asked]) -> dict[CellKey, Scores]:
    """Read the contribution of each sentence to each score."""
    scores: dict[CellKey, Scores] = {}

    @lru_cache(RUNS_IN_MEMORY)
    def read(run: str, metric: str) -> tuple[Counts, dict[str, Row]]:
        records = store.answers(run).filter(metric=metric, measure=None).records.to_pylist()
        return store.counts(run), {record["question"]: record for record in records}

    by_settings: dict[tuple[Names, Condition, str, int], list[np.ndarray]] = {}  # several where a search chose several
    for planned in asked:
        run = planned.run
        if not isinstance(run, ModelRun) or not store.path(run.id).is_dir():
            continue
        training, columns = run.training, planned.columns
        metric = training.value.metric
        counts, answers = read(run.id, metric)
        for question in planned.questions:
            if not isinstance(question, Score):
                continue
            asked_under = question.condition if isinstance(question, IntervenedScore) else None
            condition = run.condition if asked_under is None else Condition.parse(asked_under)
            fractions = counts.get(key(question.id, metric))
            if fractions is None or fractions.shape[1] < 2 or not fractions[1].sum():
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
            of_corpus = Scores({}, described, training.language, question.language or answer["target"], answer["split"])
            of_corpus = scores.setdefault((names, condition, training.selection), of_corpus)
            values = linearised(fractions[:1], fractions[1:])[0]
            by_settings.setdefault((names, condition, training.selection, run.seed), []).append(values)
            of_corpus.by_seed[run.seed] = np.mean(by_settings[names, condition, training.selection, run.seed], axis=0)
    return scores
