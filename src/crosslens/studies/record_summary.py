"""Summarise records without counts per sentence: means, intervals, differences from the reference, and tests."""

from typing import TYPE_CHECKING

from crosslens.results.cells import by_variant, condition_of, corpora_apart, groups_of
from crosslens.results.record import Results
from crosslens.scores.unpaired import Unpaired
from crosslens.studies.summary import CellKey, Scores, summary_of
from crosslens.tasks import TASKS, find_task

if TYPE_CHECKING:
    import pandas


def summarise_records(results: Results) -> "pandas.DataFrame":
    """Summarise main scores as `crosslens.studies.summary.summarise` does, from their values and intervals.

    Differences are not paired by sentence (`crosslens.scores.unpaired`), so their intervals are wider than those of a
    store of runs. Of one seed, condition and corpus the first record counts. Corpora of one name have their digest
    behind it. Scores without an interval are left out.

    Args:
        results: records of one or more studies, which are tested apart.

    Returns:
        The frame of `crosslens.studies.summary.summarise`; ``encoders`` is missing.

    >>> by_seed = ((1, 70.0, 60.0), (2, 71.0, 62.0), (3, 69.0, 58.0))
    >>> records = [
    ...     xl.Record(task="pos", metric="accuracy", source="en", target="fr", corpus="ud/fr_pud:test", seed=seed,
    ...               value=value, low=value - 1, high=value + 1, condition=condition)
    ...     for seed, *values in by_seed
    ...     for condition, value in zip(("none", '{"layers": "1-2"}'), values)
    ... ]
    >>> frame = summarise_records(xl.Results.of(records))
    >>> frame[["label", "mean", "delta"]].round(1).values.tolist(), bool(frame["q"][1] < 0.05)
    ([['reference', 70.0, nan], ['1-2', 60.0, -10.0]], True)
    """
    import pandas as pd

    frames = []
    for (study,), records in corpora_apart(results.filter(measure=None)).groups("study"):
        variants = by_variant(records, within=("task", "encoder", "source"), of=("recipe", "settings"))
        parts = [part for _, alike in variants for _, part in groups_of(alike, "encoder", "train")]
        frames.append(summary_of([_scores(part) for part in parts], study=study or ""))
    return pd.concat(frames, ignore_index=True) if frames else summary_of([], study="")


def _scores(results: Results) -> dict[CellKey, Scores]:
    """The scores of one study, by what they are of."""
    scores: dict[CellKey, Scores] = {}
    for record in results:
        value, low, high = record.value, record.low, record.high
        task = find_task(record.task) if record.task is not None and record.task in TASKS else None
        if task is None or record.metric != task.metric or value is None or low is None or high is None:
            continue
        names = (record.encoder, record.task, record.source, record.train, record.corpus, record.partner, record.metric)
        described = {"recipe": record.recipe, "settings": record.settings}
        of_corpus = Scores({}, described, record.source, record.target, record.split)
        key = (names, condition_of(record.condition), record.selection or "")
        by_seed = scores.setdefault(key, of_corpus).by_seed
        by_seed.setdefault(record.seed or 0, Unpaired.of_interval(value, low, high))
    return scores
