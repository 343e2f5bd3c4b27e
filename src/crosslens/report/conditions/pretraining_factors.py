"""Scores by pretraining factor in the form of Table 1 of Conneau, Wu et al. (2020)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.factor import Factor
from crosslens.report.conditions.comparison import Comparison, comparisons
from crosslens.report.papers import Paper, Printed
from crosslens.report.papers.conneau2020 import CONNEAU_2020, SECTIONS
from crosslens.report.papers.paper import OTHERS
from crosslens.report.significance import Significance
from crosslens.report.table import Cell, Notes, Row, Table, published_caption, published_cell, published_rows
from crosslens.results.cells import Column, Key
from crosslens.results.record import Results
from crosslens.tasks import main_metric
from crosslens.tasks.titles import as_printed

MEAN = "mean"
ORDER = list(CONNEAU_2020.conditions.values())
"""Conditions in the order of the paper's rows."""

Kind = Literal["score", "difference"]

TABLES: dict[Kind, tuple[str, str]] = {
    "score": ("pretraining-factors", "Zero-shot scores by pretraining condition."),
    "difference": (
        "pretraining-factors-differences",
        "Zero-shot scores of the reference, and differences to it (Δ) by pretraining condition.",
    ),
}
"""Kind of numbers -> name and caption of their table."""


@dataclass(frozen=True, slots=True)
class _Models:
    """Models of one encoder, split and source.

    Attributes:
        title: names them.
        blocks: task and metric -> scores.
    """

    title: str
    blocks: Mapping[str, Comparison]

    @property
    def over(self) -> str:
        """What the means are over: ``mean of 3 languages``; "" if there is only one."""
        over = {panel: block.over(block.cross) for panel, block in self.blocks.items() if len(block.cross) > 1}
        if len(over) == len(self.blocks) and len(set(over.values())) == 1:
            return f"mean of {next(iter(over.values()))}"
        return ", ".join(f"mean of {what} in {panel}" for panel, what in over.items())


def pretraining_factors(
    results: Results, *, beside: Paper | None = None, significance: Significance | None = None
) -> list[Table]:
    """Table 1 of Conneau, Wu et al. (2020): one row per pretraining condition, tasks as panels side by side.

    Each task has a column per target language and their mean. A second table has the differences to the reference.

    Args:
        results: scores of bilingual encoders.
        beside: paper whose published scores are shown below ours, or in tables of their own if they are of other
            languages or test sets.
        significance: intervals and tests of the differences.

    Returns:
        Two tables, or none where no factor of pretraining was varied.
    """
    blocks = factor_blocks(results)
    if not blocks:
        return []
    tables = [_table(blocks, kind, beside, significance) for kind in TABLES]
    shown = any(row.kind == "beside" for table in tables for rows in table.groups.values() for row in rows)
    return tables if beside is None or shown else [*tables, *_as_published(beside)]


def factor_blocks(results: Results) -> list[Comparison]:
    """Scores of each task, encoder, source and split for which a factor of pretraining was varied."""
    return [block for block in comparisons(results) if block.cross and any(map(_is_factor, block.scores.columns))]


def factor_columns(blocks: Iterable[Comparison]) -> list[Column]:
    """The reference and all factors of pretraining, in the paper's order; the paper's are followed by others."""
    columns = dict.fromkeys(column for block in blocks for column in block.scores.columns)
    shown = [column for column in columns if column.condition.is_reference or _is_factor(column)]
    variants = list(dict.fromkeys(column.variant for column in shown))
    conditions = in_the_papers_order(column.condition for column in shown)
    return sorted(shown, key=lambda column: (variants.index(column.variant), conditions.index(column.condition)))


def in_the_papers_order(conditions: Iterable[Condition]) -> list[Condition]:
    """Sort conditions, each once: those of the paper come first, in its order, with the reference at the top."""
    return sorted(
        dict.fromkeys(conditions), key=lambda condition: ORDER.index(condition) if condition in ORDER else len(ORDER)
    )


def rows_of(block: Comparison) -> dict[str, tuple[Key, ...]]:
    """Name of each target, and `MEAN` -> its rows; a bilingual encoder's language is named where it is another one."""
    named = {
        block.name((target, corpus, None) if partner == target else (target, corpus, partner)): (
            (target, corpus, partner),
        )
        for target, corpus, partner in block.cross
    }
    return {**named, MEAN: block.cross}


def target_names(blocks: Iterable[Comparison]) -> list[str]:
    """Names of the targets of all blocks, in the order of the first one."""
    return list(dict.fromkeys(name for block in blocks for name in rows_of(block) if name != MEAN))


def _is_factor(column: Column) -> bool:
    return column.condition.find(Factor) is not None


def _table(blocks: list[Comparison], kind: Kind, beside: Paper | None, significance: Significance | None) -> Table:
    order = [*target_names(blocks), MEAN]  # the same in all panels
    panels: dict[str, set[str]] = {}
    for block in blocks:
        panels.setdefault(_panel(block.task), set()).update(rows_of(block))
    heads = {panel: [name for name in order if name in names] for panel, names in panels.items()}
    all_models = _by_models(blocks)
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for models in all_models:
        for column in factor_columns(models.blocks.values()):
            printed: list[Cell] = []
            published: list[Printed | None] = []
            for panel, names in heads.items():
                block = models.blocks.get(panel)
                if block is None or column not in block.scores.columns:
                    printed += [Cell(None, kind)] * len(names)
                    published += [None] * len(names)
                else:
                    keys = rows_of(block)
                    printed += [
                        block.cell(keys.get(name, ()), column, notes, significance, absolute=kind == "score")
                        for name in names
                    ]
                    published += _published(block, beside, names, column, kind) if beside else [None] * len(names)
            rows = [Row(_label(column, kind), tuple(printed))]
            rows += published_rows(beside, printed, published, notes) if beside else []
            title = _group(column.condition, models.title, models.over, apart=len(all_models) > 1)
            groups[title] = (*groups.get(title, ()), *rows)
    name, caption = TABLES[kind]
    sizes = {panel: len(names) for panel, names in heads.items()}
    head = tuple(name for names in heads.values() for name in names)
    return Table(name, caption + published_caption(beside, groups), head, groups, tuple(notes.texts), sizes)


def _panel(task: str) -> str:
    return as_printed(f"{task}, {main_metric(task)}")


def _by_models(blocks: Iterable[Comparison]) -> list[_Models]:
    models: dict[str, dict[str, Comparison]] = {}
    for block in blocks:
        title = ", ".join(filter(None, (block.model, block.label, f"source {block.source}")))
        models.setdefault(title, {})[_panel(block.task)] = block
    return [_Models(title, of_models) for title, of_models in models.items()]


def _label(column: Column, kind: Kind) -> str:
    return column.label if kind == "score" or column.condition.is_reference else f"Δ {column.label}"


def _group(condition: Condition, models: str, over: str, *, apart: bool) -> str:
    """The section of the paper's table that a row belongs to; the models stand above the reference."""
    if condition.is_reference:
        return ", ".join(filter(None, (models, over)))
    section = next((name for name, factors in SECTIONS.items() if condition.factor in factors.values()), "others")
    return f"{models}: {section}" if apart else section


def _published(
    block: Comparison, paper: Paper, names: Iterable[str], column: Column, kind: Kind
) -> Iterator[Printed | None]:
    """Published numbers by language and their mean; a mean only over the same languages."""
    rows = rows_of(block)
    find = block.level if kind == "score" else block.printed
    complete = all(block.level(paper, key, column) is not None for key in block.cross)
    targets = {key[0] for key in block.cross}
    mean = paper.mean_score(block.task, block.source, targets, column.condition) if complete else None
    if mean is not None and kind == "difference":
        mean = paper.find(block.task, [block.source], [OTHERS], column.condition)
    for name in names:
        if name == MEAN:
            yield mean
        else:
            yield find(paper, rows[name][0], column) if name in rows else None


def _as_published(paper: Paper) -> list[Table]:
    """The paper's own table, where its scores are of other languages or test sets than ours."""
    heads = paper.targets_of_models
    if not heads:
        return []
    tables = []
    for kind, (name, caption) in TABLES.items():
        groups: dict[str, tuple[Row, ...]] = {}
        notes = Notes()
        for condition in ORDER:
            shown: Kind = "score" if condition.is_reference else kind
            numbers = [
                paper.score(task, paper.source, target, None, condition)
                if kind == "score"
                else paper.find(task, [paper.source], [target], condition)
                for task, targets in heads.items()
                for target in targets
            ]
            row = Row(
                _label(Column(condition), kind), tuple(published_cell(number, shown, notes) for number in numbers)
            )
            title = _group(condition, paper.name, "", apart=False)
            groups[title] = (*groups.get(title, ()), row)
        head = tuple(MEAN if target == OTHERS else target for targets in heads.values() for target in targets)
        sizes = {_panel(task): len(targets) for task, targets in heads.items()}
        tables.append(
            Table(f"{name}-{paper.name}", f"{caption} As published.", head, groups, tuple(notes.texts), sizes)
        )
    return tables
