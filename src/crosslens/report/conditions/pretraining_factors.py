"""Scores by pretraining factor in the form of Table 1 of Conneau, Wu et al. (2020)."""

from collections.abc import Sequence

from crosslens.encoders.interventions.factor import Factor
from crosslens.report.conditions.comparison import Comparison, comparisons
from crosslens.report.papers import Paper, Printed
from crosslens.report.papers.conneau2020 import CONNEAU_2020
from crosslens.report.papers.paper import OTHERS
from crosslens.report.table import Cell, Notes, Row, Table, cell_of, published_caption, published_rows
from crosslens.results import cells
from crosslens.results.cells import Cells, Column, Key
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results

MEAN = "mean"
ORDER = list(CONNEAU_2020.conditions.values())
"""Conditions in the order of the paper's rows."""


def pretraining_factors(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 1 of Conneau, Wu et al. (2020): one row per pretraining condition, one column per target language.

    Scores and their mean over languages come first, then the differences to the reference.

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
                    _cells(block, block.compared, shown, column, notes)
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
    return [Table("pretraining-factors", caption + published_caption(beside, groups), head, groups, tuple(notes.texts))]


def _conditions(block: Comparison) -> list[Column]:
    """The reference and all factors of pretraining, in the paper's order; the paper's are followed by others."""
    columns = [column for column in block.scores.columns if column.condition.is_reference or _is_factor(column)]
    variants = list(dict.fromkeys(column.variant for column in columns))

    def place(column: Column) -> tuple[int, int]:
        known = column.condition in ORDER
        return variants.index(column.variant), ORDER.index(column.condition) if known else len(ORDER)

    return sorted(columns, key=place)


def _is_factor(column: Column) -> bool:
    return column.condition.find(Factor) is not None


def _language(block: Comparison, key: Key) -> str:
    """Name of a target; the language of a bilingual encoder is named where it is another one."""
    target, corpus, partner = key
    return block.name((target, corpus, None) if partner == target else key)


def _cells(block: Comparison, scores: Cells, shown: Sequence[Key | None], column: Column, notes: Notes) -> list[Cell]:
    """The cells of one condition by language, and their mean."""
    kind = "score" if scores is block.scores else "difference"
    by_language = [scores.get(key, column) if key is not None else cells.EMPTY for key in shown]
    return [cell_of(cell, kind, notes) for cell in (*by_language, mean_row(scores, block.cross, column))]


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
