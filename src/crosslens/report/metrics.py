"""Tables of all metrics of a task: UAS beside LAS, precision and recall beside F1."""

from collections.abc import Iterator

from crosslens.report.blocks import scores_of
from crosslens.report.conditions.comparison import Comparison, comparisons, one_head_each
from crosslens.report.table import Notes, Row, Table
from crosslens.results.cells import Key, encoders_apart
from crosslens.results.record import Results
from crosslens.tasks import TASKS


def metrics(results: Results) -> list[Table]:
    """Scores in the source language and mean over other languages by metric, and differences to the reference.

    Returns:
        One table for each task that is scored by several metrics.
    """
    shown = scores_of(encoders_apart(results))
    by_task = [
        comparisons(scores, every_metric=True)
        for (task,), scores in shown.groups("task")
        if task in TASKS and len(scores.groups("metric")) > 1
    ]
    return [_table(blocks) for blocks in by_task if len({block.metric for block in blocks}) > 1]


def _table(blocks: list[Comparison]) -> Table:
    several = len({block.source for block in blocks}) > 1
    blocks = one_head_each(blocks)
    head = tuple(dict.fromkeys(name for block in blocks for name in block.heads))
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    by_title: dict[str, list[Comparison]] = {}
    for block in blocks:
        by_title.setdefault(_title(block, named=several), []).append(block)
    for title, together in by_title.items():
        most = max(block.scores.most_seeds for block in together)
        groups[title] = tuple(
            block.row(f"{block.metric}: {label}", keys, map(block.heads.get, head), notes, most=most)
            for block in together
            for label, keys in _means(block)
        )
    caption = (
        "All metrics: scores of the reference model (Ref) and differences to it (Δ). x: mean over the other languages."
    )
    return Table(f"metrics-{blocks[0].task}", caption, head, groups, tuple(notes.texts))


def _means(block: Comparison) -> Iterator[tuple[str, tuple[Key, ...]]]:
    """Label and rows of the mean over the corpora in the source language, and of that over the others."""
    if block.same:
        yield block.mean_of(f"{block.source} – {block.source}", block.same), block.same
    if block.cross:
        yield block.mean_of_others, block.cross


def _title(block: Comparison, *, named: bool) -> str:
    """What the metrics of a group are of; with its source where there are several (``named``), or nothing else."""
    source = f"source {block.source}"
    return ", ".join(filter(None, (source if named else "", block.model, block.label))) or source
