"""What a study says of each condition and corpus: mean, interval, difference to the reference, and its test."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false

import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from crosslens.data.corpus import Corpus
from crosslens.files import write_bytes
from crosslens.scores.crossed import crossed, linearised
from crosslens.scores.score import Score
from crosslens.studies.run import Run
from crosslens.studies.store import Store
from crosslens.tasks import find_task

if TYPE_CHECKING:
    import pandas

Counts = dict[str, np.ndarray]
"""``CORPUS METRIC`` -> ``(2, sentences)``: numerators and denominators."""


def counted(corpus: Corpus, score: Score) -> Counts:
    """A score's counts under its name."""
    return {f"{corpus.name} {score.metric}": np.stack([score.numerator, score.denominator])}


def pack(counts: Counts) -> bytes:
    """Counts as the bytes of an .npz file."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **counts)
    return stream.getvalue()


def add_counts(store: Store, run: str, counts: Counts) -> None:
    """More counts of a finished run."""
    write_bytes(store.path(run) / "counts.npz", pack({**read_counts(store, run), **counts}))


def read_counts(store: Store, run: str) -> Counts:
    """The counts of a finished run; none where none were kept."""
    path = store.path(run) / "counts.npz"
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def summarise(store: Store, runs: Sequence[Run]) -> "pandas.DataFrame":
    """A row for each task, source, corpus and condition, with intervals over seeds and sentences.

    A condition is compared with the reference on the same seeds and sentences, under the same rule of selection; ``q``
    are the p-values of all such differences after Benjamini & Hochberg (1995): calling those under 0.05 differences,
    5 % of the calls are expected to be wrong. Runs that are not done are left out.

    Args:
        store: where the runs are.
        runs: of one study.

    Returns:
        Columns task, source, corpus, metric, condition, selection, seeds, mean, std (over seeds, ddof 1), low, high,
        delta, delta_low, delta_high, p, q; the last five are absent for the reference.
    """
    import pandas as pd

    # A seed has several runs where each pair of languages has an encoder: of the source's corpora they are averaged.
    cells: dict[tuple, dict[tuple[str, str, int], list[Run]]] = {}
    # Sources with the same training data share their reference, which has the name of one of them.
    names: dict[tuple, str] = {}
    for run in runs:
        if run.training is not None and store.path(run.id).is_dir():
            for test in run.tests:
                training = run.training
                key = (training.task, training.train.digest, test.name, find_task(training.task).metric)
                rule = training.selection or training.recipe.select
                if key not in names or run.condition.label != "reference":
                    names[key] = training.source
                cells.setdefault(key, {}).setdefault((run.condition.label, rule, run.seed), []).append(run)
    kept: dict[str, Counts] = {}
    rows = []
    for key, its in cells.items():
        task, _, corpus, metric = key
        source = names[key]
        values: dict[tuple[str, str, int], np.ndarray] = {}
        for at, of_a_seed in its.items():
            linear = []
            for run in of_a_seed:
                counts = kept.setdefault(run.id, read_counts(store, run.id)).get(f"{corpus} {metric}")
                if counts is not None and counts.shape[1] > 1 and counts[1].sum():
                    linear.append(linearised(counts[:1], counts[1:])[0])
            if linear:
                values[at] = np.mean(linear, 0)
        for condition, rule in dict.fromkeys(at[:2] for at in values):
            seeds = [seed for *its, seed in values if its == [condition, rule]]
            row = {"task": task, "source": source, "corpus": corpus, "metric": metric, "condition": condition}
            row["selection"] = rule
            found = asdict(crossed(np.stack([values[condition, rule, seed] for seed in seeds])))
            found |= {"low": max(found["low"], 0.0), "high": min(found["high"], 100.0)}  # no score is beyond
            row |= {name: found[name] for name in ("seeds", "mean", "std", "low", "high")}
            both = [seed for seed in seeds if ("reference", rule, seed) in values]
            if condition != "reference" and both:
                differences = [values[condition, rule, seed] - values["reference", rule, seed] for seed in both]
                delta = crossed(np.stack(differences))
                row |= {"delta": delta.mean, "delta_low": delta.low, "delta_high": delta.high, "p": delta.p}
            rows.append(row)
    columns = ["task", "source", "corpus", "metric", "condition", "selection", "seeds", "mean", "std", "low", "high",
               "delta", "delta_low", "delta_high", "p"]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns)
    tested = frame["p"].notna()
    frame["q"] = np.nan
    if len(frame[tested]):
        frame.loc[tested, "q"] = stats.false_discovery_control(frame.loc[tested, "p"].to_numpy(float))
    return frame
