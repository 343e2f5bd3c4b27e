"""Scores by pretraining factor in the form of Table 1 of Conneau, Wu et al. (2020)."""

from collections.abc import Iterable, Sequence

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.factor import Factor
from crosslens.report.conditions.comparison import Comparison, comparisons
from crosslens.report.papers import Paper, Printed
from crosslens.report.papers.conneau2020 import CONNEAU_2020
from crosslens.report.papers.paper import OTHERS
from crosslens.report.significance import Significance
from crosslens.report.table import Cell, Kind, Notes, Row, Table, cell_of, published_caption, published_rows
from crosslens.results import cells
from crosslens.results.cells import Cells, Column, Key
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results
from crosslens.tasks import TASKS

MEAN = "mean"
ORDER = list(CONNEAU_2020.conditions.values())
"""Conditions in the order of the paper's rows."""


def pretraining_factors(
    results: Results, *, beside: Paper | None = None, significance: Significance | None = None
) -> list[Table]:
    """Table 1 of Conneau, Wu et al. (2020): one row per pretraining condition, one column per target language.

    Scores and their mean over languages come first, then the differences to the reference.

    Args:
        results: scores of bilingual encoders.
        beside: paper whose published scores are shown below ours.
        significance: intervals and tests of the differences.

    Returns:
        One table, or none where no factor of pretraining was varied.

    Raises:
        RequestError: when records contradict one another.
    """
    blocks = [block for block in comparisons(results) if block.cross and any(map(_is_factor, block.scores.columns))]
    if not blocks:
        return []
    languages = list(dict.fromkeys(_language(block, key) for block in blocks for key in block.cross))
    head = (*languages, MEAN, *(f"Δ {name}" for name in (*languages, MEAN)))
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for block in blocks:
        keys = {_language(block, key): key for key in block.cross}
        shown = [keys.get(name) for name in languages]
        rows: list[Row] = []
        for column in _conditions(block):
            is_difference = block.scores.is_difference(column)
            printed = (
                *_cells(block, block.scores, shown, column, notes),
                *(
                    _cells(block, block.compared, shown, column, notes, significance)
                    if is_difference
                    else [Cell(None, "difference")] * (len(shown) + 1)
                ),
            )
            rows.append(Row(column.label, printed))
            if beside is not None:
                rows += published_rows(beside, printed, _published(block, beside, shown, column), notes)
        title = ", ".join(filter(None, (block.title, block.label, f"source {block.source}")))
        title += f", mean of {block.over(block.cross)}" if len(block.cross) > 1 else ""
        groups[title] = (*groups.get(title, ()), *rows)
    caption = "Zero-shot scores by pretraining condition, and differences (Δ) to the reference."
    below = published_caption(beside, groups)
    if beside is not None and not below:
        groups |= _as_published(beside, head, notes)
    return [Table("pretraining-factors", caption + below, head, groups, tuple(notes.texts))]


def _conditions(block: Comparison) -> list[Column]:
    """The reference and all factors of pretraining, in the paper's order; the paper's are followed by others."""
    columns = [column for column in block.scores.columns if column.condition.is_reference or _is_factor(column)]
    variants = list(dict.fromkeys(column.variant for column in columns))
    conditions = in_the_papers_order(column.condition for column in columns)
    return sorted(columns, key=lambda column: (variants.index(column.variant), conditions.index(column.condition)))


def in_the_papers_order(conditions: Iterable[Condition]) -> list[Condition]:
    """Sort conditions, each once: those of the paper come first, in its order, with the reference at the top."""
    return sorted(
        dict.fromkeys(conditions), key=lambda condition: ORDER.index(condition) if condition in ORDER else len(ORDER)
    )


def _is_factor(column: Column) -> bool:
    return column.condition.find(Factor) is not None


def _language(block: Comparison, key: Key) -> str:
    """Name of a target; the language of a bilingual encoder is named where it is another one."""
    target, corpus, partner = key
    return block.name((target, corpus, None) if partner == target else key)


def _cells(
    block: Comparison,
    scores: Cells,
    shown: Sequence[Key | None],
    column: Column,
    notes: Notes,
    significance: Significance | None = None,
) -> list[Cell]:
    """The cells of one condition by language, and their mean."""
    kind = "score" if scores is block.scores else "difference"
    by_language = [scores.get(key, column) if key is not None else cells.EMPTY for key in shown]
    intervals = [block.interval(significance, (key,), column) if key is not None else None for key in shown]
    of_mean = block.interval(significance, block.cross, column)
    return [
        *(cell_of(cell, kind, notes, interval) for cell, interval in zip(by_language, intervals, strict=True)),
        cell_of(mean_row(scores, block.cross, column), kind, notes, of_mean),
    ]


def _as_published(paper: Paper, head: Sequence[str], notes: Notes) -> dict[str, tuple[Row, ...]]:
    """The paper's means over its languages, where its scores are of other languages or test sets than ours."""
    groups: dict[str, tuple[Row, ...]] = {}
    for task in TASKS:
        rows = []
        for condition in ORDER:
            score = paper.score(task, paper.source, OTHERS, None, condition)
            change = None if condition.is_reference else paper.find(task, [paper.source], [OTHERS], condition)
            shown = {MEAN: _cell(score, "score", notes), f"Δ {MEAN}": _cell(change, "difference", notes)}
            cells_of_row = [shown.get(name, Cell(None, "score")) for name in head]
            if score is not None:
                rows.append(Row(condition.label, tuple(cells_of_row)))
        if rows:
            groups[f"{paper.name} as published, {task}, mean of its languages"] = tuple(rows)
    return groups


def _cell(number: Printed | None, kind: Kind, notes: Notes) -> Cell:
    return Cell(None, kind) if number is None else Cell(number.value, kind, note=notes.number(number.note))


def _published(block: Comparison, paper: Paper, shown: Sequence[Key | None], column: Column) -> list[Printed | None]:
    """Published scores by language and their mean, then differences; means only over the same languages."""
    scores = [block.level(paper, key, column) if key is not None else None for key in shown]
    targets = {key[0] for key in shown if key is not None}
    complete = all(score is not None for key, score in zip(shown, scores, strict=True) if key is not None)
    mean = paper.mean_score(block.task, block.source, targets, column.condition) if complete else None
    if column.condition.is_reference:
        return [*scores, mean, *[None] * (len(shown) + 1)]
    differences = [block.printed(paper, key, column) if key is not None else None for key in shown]
    of_mean = paper.find(block.task, [block.source], [OTHERS], column.condition) if mean is not None else None
    return [*scores, mean, *differences, of_mean]
