"""Rows and columns of the papers' tables; `crosslens.report.render` writes them as text."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.errors import RequestError
from crosslens.report.atlas.ranking import encoder_ranking
from crosslens.report.blocks import corpus_notes, on_one_layer, score_head, scores_of
from crosslens.report.conditions.comparison import Comparison, comparisons, not_compared, one_head_each
from crosslens.report.conditions.dose_response import dose_response
from crosslens.report.conditions.heads import heads
from crosslens.report.conditions.interventions import before_training, interventions
from crosslens.report.conditions.language_heads import language_heads
from crosslens.report.conditions.perplexities import perplexities
from crosslens.report.conditions.pretraining_factors import pretraining_factors
from crosslens.report.conditions.pretraining_steps import last_checkpoints, pretraining_steps
from crosslens.report.conditions.recovered import gap_recovered
from crosslens.report.correlations import correlation, correlation_by_layer, overlap
from crosslens.report.layers.by_layer import BY_LAYER
from crosslens.report.layers.layer_by_layer import layer_by_layer
from crosslens.report.learning_curves import amounts
from crosslens.report.metrics import metrics
from crosslens.report.papers import Paper, Printed
from crosslens.report.papers.paper import OTHERS
from crosslens.report.script_pairs import scripts
from crosslens.report.significance import Significance
from crosslens.report.supervision import supervision
from crosslens.report.table import Cell, Notes, Row, Table, published_caption, published_rows
from crosslens.results.cells import OF_RECIPE, Column, Key, condition_of, groups_of
from crosslens.results.order import Order
from crosslens.results.pivot import score_cells
from crosslens.results.record import Results, concatenated, remembered
from crosslens.tasks import TASKS, main_metric

OF_OTHER_CONDITIONS = ", and differences (Δ) of other conditions to the reference with the same settings"
"""The part of a caption on columns of differences."""

OF_LAYERS_ALONE = "; layers without another word are re-initialised"
"""Follows it where the head of such a column is only layers."""


def all_tables(
    results: Results,
    *,
    sort: Order = "score",
    beside: Paper | None = None,
    significance: Significance | None = None,
    skipped: Callable[[str], None] = lambda reason: None,
) -> list[Table]:
    """Make every table for which the results contain scores.

    Args:
        results: Scores and similarities of one or more studies.
        sort: Order of the languages, as in `Results.sorted`.
        beside: Paper whose published scores are shown below ours where task, source, target and condition agree.
        significance: Intervals and tests of scores from finished studies.
        skipped: Called with the reason whenever scores or tables are skipped, such as contradicting records.

    Returns:
        The tables; none without scores.
    """
    at_every_step = without_contradictions(results, skipped).sorted(sort)
    readable = last_checkpoints(at_every_step).sorted(sort)
    results = before_training(readable)
    makers: list[Callable[[], list[Table]]] = [
        lambda: layer_deltas(results, beside=beside, significance=significance),
        lambda: by_target(results, beside=beside, significance=significance),
        lambda: domains(results, beside=beside, significance=significance),
        lambda: layer_sets(results, beside=beside),
        lambda: pretraining_factors(results, beside=beside, significance=significance),
        lambda: perplexities(results),
        lambda: pretraining_steps(before_training(at_every_step)),
        lambda: encoder_ranking(results),
        lambda: interventions(readable, significance=significance),
        lambda: gap_recovered(readable),
        lambda: dose_response(readable),
        lambda: heads(readable, significance=significance),
        lambda: language_heads(readable),
        lambda: metrics(results),
        lambda: supervision(results, beside=beside),
        lambda: correlation(results, beside=beside, skipped=skipped),
        lambda: correlation_by_layer(results),
        lambda: overlap(results, skipped=skipped),
        lambda: scripts(results),
        lambda: amounts(results),
        *(partial(make, results) for make in BY_LAYER),
        lambda: [*layer_by_layer(results).values()],
    ]
    tables: list[Table] = []
    reasons: dict[str, None] = {}
    for make in makers:
        try:
            tables += make()
        except RequestError as error:
            reasons[str(error)] = None
    if beside is not None:
        apart: list[str] = []
        with suppress(RequestError):  # which the tables report
            apart += not_compared(comparisons(results), beside)
        if not apart and not any(beside.name in table.caption for table in tables):
            apart.append(f"{beside.name} has no published score of these tasks, languages and conditions")
        reasons |= dict.fromkeys(f"--beside: {reason}" for reason in apart)
    for reason in reasons:
        skipped(reason)
    return tables


@remembered
def without_contradictions(results: Results, skipped: Callable[[str], None]) -> Results:
    """Leave out scores that cannot share a table; the reason goes to `skipped`."""
    measured = results.filter(measure=[name for (name,), _ in results.groups("measure") if name is not None])
    kept = [measured, on_one_layer(results.filter(measure=None), where=True)]
    refused = False
    columns = ("task", "metric", "encoder", "source", "split", "translated_from")
    for (task, metric, *_), block in groups_of(scores_of(results), *columns):
        try:
            if task in TASKS:
                score_cells(block)
            kept.append(block)
        except RequestError as error:
            refused = True
            if metric == main_metric(task):
                skipped(str(error))
    return concatenated(kept) if refused else results


def layer_deltas(
    results: Results, *, beside: Paper | None = None, significance: Significance | None = None
) -> list[Table]:
    """Table 1 of Muller et al. (2021): same-language and mean cross-language scores, and changes by condition.

    Returns:
        One table, or none where there are no scores.
    """
    blocks = comparisons(results)
    return [_table("layer-deltas", "", blocks, _means, beside, significance)] if blocks else []


def by_target(
    results: Results, *, beside: Paper | None = None, significance: Significance | None = None
) -> list[Table]:
    """Tables 2 and 6 to 8 of Muller et al. (2021): scores and changes by target or corpus, one table per task.

    With several test corpora in the source language, as in Table 2, same-language and cross-language rows are separate
    groups.
    """
    blocks = comparisons(results)
    by_task = {task: [block for block in blocks if block.task == task] for task in (block.task for block in blocks)}
    return [
        _table(
            f"by-target-{task}",
            " by target",
            several,
            _parts if any(map(_has_domains, several)) else _targets,
            beside,
            significance,
        )
        for task, several in by_task.items()
    ]


def domains(results: Results, *, beside: Paper | None = None, significance: Significance | None = None) -> list[Table]:
    """Table 2 of Muller et al. (2021): tasks as panels, each with the domains of the source language and the others.

    Returns:
        One table, or none where no source language has several test corpora.
    """
    about = " on domains of the source language and on other languages"
    blocks = [block for block in comparisons(results) if _has_domains(block)]
    several = len({block.task for block in blocks}) > 1
    return [_table("domains", about, blocks, _parts, beside, significance)] if several else []


def layer_sets(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 5 of Muller et al. (2021): absolute scores, one row per target and one column per condition.

    Returns:
        One table, or none where there are no scores.
    """
    blocks = one_head_each(comparisons(results))
    if not blocks:
        return []
    head = tuple(dict.fromkeys(score_head(column) for block in blocks for column in block.scores.columns))
    groups: dict[str, tuple[Row, ...]] = {}
    spread: dict[str, list[float]] = {}
    notes = Notes()
    for block in blocks:
        columns = {score_head(column): column for column in block.scores.columns}
        rows: list[Row] = []
        for key in (*block.same, *block.cross):
            printed = tuple(block.cell([key], columns.get(name), notes, absolute=True) for name in head)
            rows.append(Row(" ".join(filter(None, (block.name(key), block.label))), printed))
            spread.setdefault(block.task, []).extend(cell.std for cell in printed if cell.std is not None)
            if beside is not None:
                rows += published_rows(
                    beside, printed, [block.level(beside, key, columns.get(name)) for name in head], notes
                )
        title = f"{block.title}, source {block.source}"
        groups[title] = (*groups.get(title, ()), *rows)
    by_task = [
        f"{task} {min(deviations):.2f}/{statistics.median(deviations):.2f}/{max(deviations):.2f}"
        for task, deviations in spread.items()
        if deviations
    ]
    caption = "Scores by condition."
    if by_task:
        caption += f" Standard deviations over seeds, min/median/max: {', '.join(by_task)}."
    caption += _of_corpora(blocks)
    return [Table("layer-sets", caption + published_caption(beside, groups), head, groups, tuple(notes.texts))]


@dataclass(frozen=True, slots=True)
class _Line:
    """A row: one target, or the mean over several; ``part`` names its group where a task has several."""

    label: str
    keys: tuple[Key, ...]
    is_mean: bool = False
    part: str = ""


def _means(block: Comparison) -> Iterator[_Line]:
    if block.same:
        for language in dict.fromkeys(key[0] for key in block.same):
            same = tuple(key for key in block.same if key[0] == language)
            yield _Line(block.mean_of(f"{block.source} – {language}", same), same)
    yield from _mean_of_others(block)


def _targets(block: Comparison) -> Iterator[_Line]:
    for key in (*block.same, *block.cross):
        yield _Line(f"{block.source} – {block.name(key)}", (key,))
    yield from _mean_of_others(block)


def _parts(block: Comparison) -> Iterator[_Line]:
    for line in _targets(block):
        yield replace(line, part="same-language" if line.keys[0] in block.same else "cross-language")


def _has_domains(block: Comparison) -> bool:
    return len({key[:2] for key in block.same}) > len({key[0] for key in block.same})


def _mean_of_others(block: Comparison) -> Iterator[_Line]:
    if block.cross:
        yield _Line(block.mean_of_others, block.cross, is_mean=True)


def _trained_otherwise(blocks: Sequence[Comparison], compared: Sequence[Condition]) -> list[str]:
    """Conditions with a recipe of their own that differs from those of the models that they are compared with."""
    names: dict[str, None] = {}
    for block in blocks:
        ways: dict[Condition, set[tuple]] = {}
        for text, *way in block.records.columns.together("condition", *OF_RECIPE).values:
            ways.setdefault(condition_of(text), set()).add(tuple(way))
        usual = set().union(*(way for condition, way in ways.items() if not condition.own_recipe))
        own = (each for each, way in ways.items() if each.own_recipe and not way <= usual)
        names |= dict.fromkeys(each.difference.change for each in own if each.difference in compared)
    return list(names)


def _caption(about: str, blocks: Sequence[Comparison]) -> str:
    """The caption of a table of scores and differences, of columns and rows that it has only."""
    columns = [(column, block.scores.is_difference(column)) for block in blocks for column in block.scores.columns]
    scores = [column for column, is_difference in columns if not is_difference]
    caption = "Scores"
    if all(column.condition.is_reference for column in scores):
        heads = dict.fromkeys(column.condition.label if column.variant else score_head(column) for column in scores)
        models = "models" if any(column.variant for column in scores) else "model"
        caption += f" of the reference {models} ({', '.join(heads)})"
    caption += about
    differences = [column.condition for column, is_difference in columns if is_difference]
    caption += OF_OTHER_CONDITIONS if differences else ""
    own = _trained_otherwise(blocks, differences)
    if own:
        caption += f" (by another recipe: {' and '.join(own) if len(own) < 4 else f'{len(own)} conditions'})"
    parts = [part for condition in differences for part in condition.interventions]
    caption += OF_LAYERS_ALONE if any(isinstance(part, Reinit) and part.whole_layers for part in parts) else ""
    return caption + (f". {OTHERS}: mean over the other languages." if any(block.cross for block in blocks) else ".")


def _of_corpora(blocks: Sequence[Comparison]) -> str:
    return "".join(f" {note}" for note in corpus_notes((block.task, block.records) for block in blocks))


def _table(
    name: str,
    about: str,
    blocks: Sequence[Comparison],
    lines: Callable[[Comparison], Iterator[_Line]],
    beside: Paper | None,
    significance: Significance | None = None,
) -> Table:
    blocks = one_head_each(blocks)
    head = tuple(dict.fromkeys(name for block in blocks for name in block.heads))
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for block in blocks:
        columns = list(map(block.heads.get, head))
        for line in lines(block):
            row = block.row(line.label, line.keys, columns, notes, significance)
            published = _beside(block, line, columns, row.cells, beside, notes) if beside is not None else ()
            title = ", ".join(filter(None, (block.title, block.label, line.part)))
            groups[title] = (*groups.get(title, ()), replace(row, kind="mean") if line.is_mean else row, *published)
    caption = _caption(about, blocks) + _of_corpora(blocks) + published_caption(beside, groups)
    return Table(name, caption, head, groups, tuple(notes.texts))


def _beside(
    block: Comparison, line: _Line, columns: Sequence[Column | None], ours: tuple[Cell, ...], paper: Paper, notes: Notes
) -> Iterator[Row]:
    """Yield published scores below ours; means cover the rows that both have."""
    theirs = {key: [block.printed(paper, key, column) for column in columns] for key in line.keys}
    if len(line.keys) == 1:
        yield from published_rows(paper, ours, theirs[line.keys[0]], notes)
        return
    there = [any(numbers[place] for numbers in theirs.values()) for place in range(len(columns))]
    shared = [
        key for key, numbers in theirs.items() if all(n for n, known in zip(numbers, there, strict=True) if known)
    ]
    if not shared or not any(there):
        return
    over = ""
    if len(shared) < len(line.keys):
        over = f", {block.over(shared)}"
        ours = tuple(block.cell(shared, column, notes) for column in columns)
        yield Row(f"ours{over}", ours, "beside")
    means = [
        _mean_printed([number for key in shared if (number := theirs[key][place])]) if known else None
        for place, known in enumerate(there)
    ]
    yield from published_rows(paper, ours, means, notes, over)


def _mean_printed(numbers: Sequence[Printed]) -> Printed:
    remarks = "; ".join(dict.fromkeys(number.note for number in numbers if number.note))
    return Printed(statistics.fmean(number.value for number in numbers), numbers[0].table, remarks)
