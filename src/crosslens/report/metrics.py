"""Tables of all metrics of a task: UAS beside LAS, precision and recall beside F1."""

from crosslens.report.blocks import column_head, scores_of
from crosslens.report.table import Cell, Notes, Row, Table, cell_of
from crosslens.results.cells import encoders_apart, groups_of
from crosslens.results.pivot import mean_row, parts_of, score_cells
from crosslens.results.record import Results
from crosslens.tasks import TASKS


def metrics(results: Results) -> list[Table]:
    """Scores in the source language and mean over other languages by metric, and differences to the reference.

    Returns:
        One table for each task that is scored by several metrics.
    """
    shown = scores_of(encoders_apart(results))
    return [table for (task,), scores in shown.groups("task") if task in TASKS for table in _of_task(task, scores)]


def _of_task(task: str, scores: Results) -> list[Table]:
    if len([metric for (metric,), _ in scores.groups("metric") if metric is not None]) < 2:
        return []
    blocks = groups_of(scores, "encoder", "source", "split", "metric")
    named = [len({key[place] for key, _ in blocks}) > 1 for place in range(3)]
    groups: dict[str, list[tuple[str, dict[str, Cell]]]] = {}
    notes = Notes()
    for (encoder, source, split, metric), block in blocks:
        if metric is None or source is None:
            continue
        table = score_cells(block)
        compared = table.compared()
        same, cross, _ = parts_of(table, source)
        title = ", ".join(
            text
            for text, several in ((f"source {source}", named[1]), (str(encoder), named[0]), (str(split), named[2]))
            if several
        )
        own = source + (f", mean of {len(same)}" if len(same) > 1 else "")
        for part, keys in ((own, same), (f"x, mean of {len(cross)}", cross)):
            if keys:
                cells = {
                    column_head(table, column): cell_of(
                        mean_row(compared, keys, column),
                        "difference" if table.is_difference(column) else "score",
                        notes,
                    )
                    for column in table.columns
                }
                groups.setdefault(title or f"source {source}", []).append((f"{metric}: {source} – {part}", cells))
    head = tuple(dict.fromkeys(name for rows in groups.values() for _, cells in rows for name in cells))
    missing = Cell(None, "score")
    printed = {
        title: tuple(Row(label, tuple(cells.get(name, missing) for name in head)) for label, cells in rows)
        for title, rows in groups.items()
    }
    caption = (
        "All metrics: scores of the reference model (Ref) and differences to it (Δ). x: mean over the other languages."
    )
    return [Table(f"metrics-{task}", caption, head, printed, tuple(notes.texts))] if printed else []
