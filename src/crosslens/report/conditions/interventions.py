"""The same layers under several interventions, before and after training, side by side."""

import re
from typing import Literal

import numpy as np

from crosslens.encoders.condition import Condition, differing_settings
from crosslens.encoders.interventions import INTERVENTIONS
from crosslens.report.conditions.comparison import Comparison, comparisons
from crosslens.report.significance import Significance
from crosslens.report.table import Notes, Row, Table
from crosslens.results.cells import Column, condition_of
from crosslens.results.record import Results

CAPTION = (
    "Differences (Δ) to the reference when layers are changed before fine-tuning (re-initialised, frozen) or in the"
    " fine-tuned model, without training it again."
)

NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
"""A dose in the name of a treatment."""


def interventions(results: Results, *, significance: Significance | None = None) -> list[Table]:
    """Tabulate differences to the reference: two rows per intervention, one column per set of layers.

    Returns:
        One table, or none where no trained model was changed.
    """
    blocks = changed_after_training(results)
    if not blocks:
        return []
    head = tuple(sorted(dict.fromkeys(address for block in blocks for _, address in treated(block)), key=lowest))
    if not head:
        return []
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for block in blocks:
        columns = treated(block)
        rows: list[Row] = []
        for treatment in dict.fromkeys(treatment for treatment, _ in columns):
            ordered = [columns.get((treatment, address)) for address in head]
            rows += [
                block.row(f"{treatment}: {name}", keys, ordered, notes, significance) for name, keys in block.parts()
            ]
        if rows:
            groups[block.heading] = (*groups.get(block.heading, ()), *rows)
    return [Table("interventions", CAPTION, head, groups, tuple(notes.texts))]


def changed_after_training(results: Results) -> list[Comparison]:
    """Scores of each task, encoder, source, and recipe or training data, for which trained models were changed."""
    return [
        of_variant
        for block in comparisons(results)
        for of_variant in block.by_variant()
        if any(_changes_trained_model(column.condition) for column in of_variant.scores.columns)
    ]


def before_training(results: Results) -> Results:
    """Leave out models that were changed after training, if there are other results.

    Their table is `interventions`; in others they would be many columns more. Scores of models that were changed both
    before and after training, or by several interventions, have no row there and stay.
    """
    kinds = results.columns.together("measure", "condition")
    differences = [(measure, condition_of(text).difference) for measure, text in kinds.values]
    left_out = [
        _changes_trained_model(condition) if measure is None else condition.acts_after_training
        for measure, condition in differences
    ]
    kept = ~np.array(left_out, bool)
    return results if kept.all() or not kept.any() else results.where(kept[kinds.codes])


def _changes_trained_model(condition: Condition) -> bool:
    """Whether one intervention on a trained model is all that was done, as in the table of `interventions`."""
    return condition.acts_after_training and condition.treatment is not None


def _dose(column: Column) -> tuple[str, float]:
    """What orders treatments of one kind: words such as ``random``, then the dose; without one it is whole."""
    treatment, _ = column.condition.treatment or ("", "")
    return re.sub(r"[^a-z]", "", treatment.partition("=")[2]), amount(treatment)


def amount(treatment: str) -> float:
    """The dose of a treatment; 1 where none is written.

    >>> amount("noise=0.5"), amount("erase")
    (0.5, 1.0)
    """
    numbers = re.findall(NUMBER, treatment)
    return float(numbers[0]) if numbers else 1.0


def lowest(address: str) -> int:
    """The first layer of an address; 0 for ``all``."""
    first = re.match(r"\d+", address)
    return int(first[0]) if first else 0


def is_head(address: str) -> bool:
    """Whether an address is one attention head of one layer."""
    return re.fullmatch(r"\d+\.attention\.head\.\d+", address) is not None


def treated(block: Comparison, *, heads: Literal["without", "only"] = "without") -> dict[tuple[str, str], Column]:
    """Treatment and address -> column, in the order of the registry of interventions.

    Different conditions of one treatment, such as patches from two corpora, have what differs behind its name.

    Args:
        block: scores of one variant.
        heads: whether to leave out single attention heads, whose table is `crosslens.report.conditions.heads`, or to
            return only these.
    """
    kinds = list(INTERVENTIONS)
    columns = [
        column
        for column in block.scores.columns
        if block.scores.is_difference(column) and column.condition.treatment is not None
    ]
    columns.sort(key=lambda column: (kinds.index(column.condition.interventions[0].kind), *_dose(column)))
    alike: dict[tuple[str, str], list[Column]] = {}
    for column in columns:
        treatment = column.condition.treatment
        if treatment is not None and is_head(treatment[1]) == (heads == "only"):
            alike.setdefault(treatment, []).append(column)
    return {
        (" ".join(filter(None, (treatment, settings))), address): column
        for (treatment, address), several in alike.items()
        for settings, column in zip(differing_settings([column.condition for column in several]), several, strict=True)
    }
