"""What a study says of each cell: mean, interval, difference to the reference, and its test."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from crosslens.encoders.condition import Condition
from crosslens.runs.counts import key
from crosslens.runs.question import Score
from crosslens.runs.run import Asked, ModelRun
from crosslens.runs.store import Store
from crosslens.scores.crossed import crossed, linearised

if TYPE_CHECKING:
    import pandas

NAMES = ("encoder", "task", "source", "train", "corpus", "partner", "metric")
"""Columns that name what a condition is compared within."""

COLUMNS = (
    "study", *NAMES, "condition", "label", "selection", "recipe", "settings", "encoders", "seeds", "mean", "std",
    "low", "high", "delta", "delta_low", "delta_high", "p", "q",
)  # fmt: skip


def summarise(store: Store, asked: Iterable[Asked], *, study: str = "") -> "pandas.DataFrame":
    """A row for each corpus that models were evaluated on and each condition, with intervals over seeds and sentences.

    A condition is compared with the reference on the same seeds and sentences, trained on the same data under the same
    rule of selection; one with a recipe of its own under whatever rule that has, where the reference has one rule only.
    ``q`` are the p-values of all such differences after Benjamini & Hochberg (1995): calling those under 0.05
    differences, 5 % of the calls are expected to be wrong. Runs that are not done are left out.

    Args:
        store: where the runs are.
        asked: of one study, under its names.
        study: the study's name.

    Returns:
        `COLUMNS`: ``source`` is the study's name of it, ``std`` is over seeds (ddof 1); delta, delta_low, delta_high, p
        and q are absent for the reference. ``encoders`` is ``each`` where each seed begins with an encoder of its own,
        and ``one`` where all begin with the same one: how such encoders differ is then in no interval and no test.
    """
    import pandas as pd

    cells = _values(store, asked)
    rules: dict[tuple, set[str]] = {}
    for names, condition, rule in cells:
        if condition.is_reference:
            rules.setdefault(names, set()).add(rule)
    rows = []
    for (names, condition, rule), (by_seed, described) in cells.items():
        only = rules.get(names, set())
        own = condition.own_recipe and len(only) == 1
        reference, _ = cells.get((names, Condition(), next(iter(only)) if own else rule), ({}, {}))
        whole = crossed(np.stack(list(by_seed.values())))
        row: dict[str, Any] = {"study": study, **dict(zip(NAMES, names, strict=True)), **described}
        row |= {"condition": condition.text, "label": condition.label, "selection": rule, "seeds": whole.seeds}
        row |= {"mean": whole.mean, "std": whole.std, "low": max(whole.low, 0.0), "high": min(whole.high, 100.0)}
        both = [seed for seed in by_seed if seed in reference]
        if not condition.is_reference and both:
            delta = crossed(np.stack([by_seed[seed] - reference[seed] for seed in both]))
            row |= {"delta": delta.mean, "delta_low": delta.low, "delta_high": delta.high, "p": delta.p}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    tested = frame["p"].notna().to_numpy()
    q = np.full(len(frame), np.nan)
    if tested.any():
        q[tested] = stats.false_discovery_control(frame["p"].to_numpy(float)[tested])
    return frame.assign(q=q)


def _values(
    store: Store, asked: Iterable[Asked]
) -> dict[tuple[tuple, Condition, str], tuple[dict[int, np.ndarray], Mapping[str, Any]]]:
    """(names, condition, rule of selection) -> seed -> what each sentence adds; and how the models were trained."""
    cells: dict[tuple[tuple, Condition, str], tuple[dict[int, np.ndarray], Mapping[str, Any]]] = {}
    for each in asked:
        run = each.run
        if not isinstance(run, ModelRun) or not store.path(run.id).is_dir():
            continue
        counts, training, columns = store.counts(run.id), run.training, run.columns
        metric = training.value.metric
        for question in each.questions:
            counted = counts.get(key(question.id, metric)) if isinstance(question, Score) else None
            if counted is None or counted.shape[1] < 2 or not counted[1].sum():
                continue
            corpus = question.corpus.name  # pyright: ignore[reportAttributeAccessIssue]
            names = (
                columns["encoder"],
                training.task,
                training.source,
                training.train.name,
                corpus,
                run.partner,
                metric,
            )
            described = {name: columns[name] for name in ("recipe", "settings")}
            described["encoders"] = "one" if run.base.shared else "each"
            by_seed, _ = cells.setdefault((names, run.condition, training.selection), ({}, described))
            by_seed[run.seed] = linearised(counted[:1], counted[1:])[0]
    return cells
