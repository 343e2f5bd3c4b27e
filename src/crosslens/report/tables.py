"""Rows and columns of the papers' tables; `crosslens.report.render` writes them as text."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from crosslens.errors import RequestError
from crosslens.report.blocks import column_head, main_metric, on_one_layer, score_head
from crosslens.report.correlations import correlation, correlation_by_layer, overlap
from crosslens.report.layers.by_layer import BY_LAYER
from crosslens.report.layers.layer_by_layer import layer_by_layer
from crosslens.report.learning_curves import amounts
from crosslens.report.metrics import metrics
from crosslens.report.papers import Paper, Printed
from crosslens.report.papers.paper import names_in_papers, treebank_of
from crosslens.report.script_pairs import scripts
from crosslens.report.significance import Interval, Significance
from crosslens.report.supervision import supervision
from crosslens.report.table import Cell, Notes, Row, Table, cell_of, published_caption, published_rows
from crosslens.results import cells
from crosslens.results.cells import Cells, Column, Key, groups_of, in_columns, languages_of
from crosslens.results.pivot import mean_name, mean_row, parts_of, score_cells
from crosslens.results.record import Results, concatenated
from crosslens.tasks import TASKS

OTHERS = "x"
"""Label of the mean over the other languages, as in the paper."""


def all_tables(
    results: Results,
    *,
    beside: Paper | None = None,
    significance: Significance | None = None,
    skipped: Callable[[str], None] = lambda reason: None,
) -> list[Table]:
    """Make every table for which the results contain scores.

    Args:
        results: Scores and similarities of one or more studies.
        beside: Paper whose published scores are shown below ours where task, source, target and condition agree.
        significance: Intervals and tests of scores from finished studies.
        skipped: Called with the reason whenever scores or tables are skipped, such as contradicting records.

    Returns:
        The tables; none without scores.
    """
    results = _readable(results, skipped)
    makers: list[Callable[[], list[Table]]] = [
        lambda: layer_deltas(results, beside=beside),
        lambda: by_target(results, beside=beside, significance=significance),
        lambda: layer_sets(results, beside=beside),
        lambda: metrics(results),
        lambda: supervision(results, beside=beside),
        lambda: correlation(results, beside=beside),
        lambda: correlation_by_layer(results),
        lambda: overlap(results),
        lambda: scripts(results),
        lambda: amounts(results),
        *(partial(make, results) for make in BY_LAYER),
        lambda: layer_by_layer(results),
    ]
    tables: list[Table] = []
    reasons: dict[str, None] = {}
    for make in makers:
        try:
            tables += make()
        except RequestError as error:
            reasons[str(error)] = None
    for reason in reasons:
        skipped(reason)
    return tables


def _readable(results: Results, skipped: Callable[[str], None]) -> Results:
    """Results without scores that cannot share a table; the reason goes to `skipped`."""
    measured = results.filter(measure=[name for (name,), _ in results.groups("measure") if name is not None])
    kept = [measured, on_one_layer(results.filter(measure=None), where=True)]
    refused = False
    for (task, metric, *_), block in groups_of(_scores(results), "task", "metric", "encoder", "source", "split"):
        try:
            if task in TASKS:
                score_cells(block)
            kept.append(block)
        except RequestError as error:
            refused = True
            if metric == main_metric(task):
                skipped(str(error))
    return concatenated(kept) if refused else results


def layer_deltas(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 1 of Muller et al. (2021): same-language and mean cross-language scores, and changes by condition.

    Returns:
        One table, or none where there are no scores.
    """
    caption = (
        "Scores of the reference model (Ref) and differences to it (Δ) when layers are re-initialised or frozen, or"
        " when pretraining differs. x: mean over the other languages."
    )
    blocks = list(_blocks(results))
    return [_table("layer-deltas", caption, blocks, _means, beside)] if blocks else []


def by_target(
    results: Results, *, beside: Paper | None = None, significance: Significance | None = None
) -> list[Table]:
    """Tables 2 and 6 to 8 of Muller et al. (2021): scores and changes by target or corpus, one table per task."""
    caption = (
        "Scores of the reference model (Ref) by target, and differences to it (Δ) when layers are re-initialised or"
        " frozen, or when pretraining differs. x: mean over the other languages."
    )
    blocks = list(_blocks(results))
    by_task = {task: [block for block in blocks if block.task == task] for task in (block.task for block in blocks)}
    return [
        _table(f"by-target-{task}", caption, several, _targets, beside, significance)
        for task, several in by_task.items()
    ]


def layer_sets(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 5 of Muller et al. (2021): absolute scores, one row per target and one column per condition.

    Returns:
        One table, or none where there are no scores.
    """
    blocks = list(_blocks(results))
    if not blocks:
        return []
    head = tuple(dict.fromkeys(score_head(column) for block in blocks for column in block.scores.columns))
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for block in blocks:
        columns = {score_head(column): column for column in block.scores.columns}
        rows: list[Row] = []
        for key in (*block.same, *block.cross):
            printed = tuple(cell_of(block.scores.get(key, columns.get(name)), "score", notes) for name in head)
            rows.append(Row(" ".join(filter(None, (block.name(key), block.label))), printed))
            if beside is not None:
                rows += published_rows(
                    beside, printed, [block.level(beside, key, columns.get(name)) for name in head], notes
                )
        title = f"{block.title}, source {block.source}"
        groups[title] = (*groups.get(title, ()), *rows)
    spread = [cell.std for rows in groups.values() for row in rows for cell in row.cells if cell.std is not None]
    caption = "Scores by condition."
    if spread:
        middle = statistics.median(spread)
        caption += f" Standard deviations over seeds: {min(spread):.2f} to {max(spread):.2f}, median {middle:.2f}."
    return [Table("layer-sets", caption + published_caption(beside, groups), head, groups, tuple(notes.texts))]


def _scores(results: Results) -> Results:
    return on_one_layer(results.filter(measure=None), where=False)


@dataclass(frozen=True, slots=True)
class _Models:
    """Training data of the models of a column, and the rules that selected their weights."""

    trains: frozenset[str | None]
    selections: frozenset[str | None]


@dataclass(frozen=True, slots=True)
class _Block:
    """The scores of one task, source, encoder and split.

    Attributes:
        title: the task, its metric, and the encoder where there are several.
        label: the split, if there are several.
        scores: one row per corpus, one column per condition.
        compared: differences to the reference.
        models: training data and selection rules of each column.
        same: rows in the source language.
        cross: rows in other languages.
        languages: name of a corpus in row labels.
    """

    task: str
    source: str
    encoder: str | None
    split: str | None
    title: str
    label: str | None
    scores: Cells
    compared: Cells
    models: Mapping[Column, _Models]
    same: tuple[Key, ...]
    cross: tuple[Key, ...]
    languages: Callable[[str], str]

    def name(self, key: Key) -> str:
        """The target's language, or its corpus where there are several; and a bilingual encoder's other language."""
        target, corpus, partner = key
        name = self.languages(corpus) if corpus is not None else target
        return f"{name} with {partner}" if partner else name

    def over(self, keys: Sequence[Key]) -> str:
        """Describe what a mean over these rows covers: ``18 languages``."""
        if len(keys) == 1:
            return self.name(keys[0])
        targets, corpora, partners = ({key[place] for key in keys} for place in range(3))
        for kind, there in (("languages", targets), ("corpora", corpora), ("encoders", partners)):
            if len(there) == len(keys):
                return f"{len(keys)} {kind}"
        return f"{len(keys)} scores"

    def _comparable(self, column: Column) -> bool:
        """Return whether a paper's scores apply: the models vary in their training corpus at most."""
        return not column.variant or column.variant in self.models[column].trains

    def printed(self, paper: Paper, key: Key, column: Column | None) -> Printed | None:
        """Find the published difference, or score of the reference."""
        if column is None or not self._comparable(column) or len(self.models[column].trains) > 1:
            return None
        (train,) = self.models[column].trains
        sources = tuple(filter(None, (treebank_of(train), self.source)))
        return paper.find(self.task, sources, names_in_papers(key[1], key[0]), column.condition)

    def level(self, paper: Paper, key: Key, column: Column | None) -> Printed | None:
        """Find the published score."""
        target, corpus, _ = key
        usual = self.split not in (None, "test") or target in names_in_papers(corpus, target)
        if column is None or not self._comparable(column) or not usual:
            return None
        return paper.score(self.task, self.source, target, self.split, column.condition)

    def interval(
        self, significance: Significance | None, keys: Sequence[Key], column: Column | None
    ) -> Interval | None:
        """Find the confidence interval of a cell, or of a mean over several."""
        partners = {key[2] for key in keys}
        if significance is None or column is None or len(partners) > 1:
            return None
        corpus = keys[0][1] if len(keys) == 1 else mean_name([key[0] for key in keys], self.split)
        named = {
            "encoder": self.encoder,
            "task": self.task,
            "metric": main_metric(self.task),
            "source": self.source,
            "corpus": corpus,
            "partner": partners.pop(),
            "condition": column.condition.text,
        }
        models = self.models[column]
        return significance.find(
            mean_row(self.compared, keys, column),
            named,
            is_difference=self.scores.is_difference(column),
            trains=models.trains,
            selections=models.selections,
        )


@dataclass(frozen=True, slots=True)
class _Line:
    """A row: one target, or the mean over several."""

    label: str
    keys: tuple[Key, ...]
    is_mean: bool = False


def _means(block: _Block) -> Iterator[_Line]:
    if block.same:
        over = f", mean of {block.over(block.same)}" if len(block.same) > 1 else ""
        yield _Line(f"{block.source} – {block.source}{over}", block.same)
    yield from _mean_of_others(block)


def _targets(block: _Block) -> Iterator[_Line]:
    for key in (*block.same, *block.cross):
        yield _Line(f"{block.source} – {block.name(key)}", (key,))
    yield from _mean_of_others(block)


def _mean_of_others(block: _Block) -> Iterator[_Line]:
    if block.cross:
        over = block.over(block.cross) if len(block.cross) > 1 else "1 language"
        yield _Line(f"{block.source} – {OTHERS}, mean of {over}", block.cross, is_mean=True)


def _blocks(results: Results) -> Iterator[_Block]:
    groups = [
        (key, block)
        for key, block in groups_of(_scores(results), "task", "metric", "encoder", "source", "split")
        if key[1] is not None and key[1] == main_metric(key[0]) and key[3] is not None
    ]
    encoders, splits = ({key[place] for key, _ in groups} for place in (2, 4))
    for (task, metric, encoder, source, split), block in groups:
        shown = [encoder if len(encoders) > 1 else None, split if len(splits) > 1 else None]
        scores = score_cells(block)
        same, cross, _ = parts_of(scores, source)
        yield _Block(
            task,
            source,
            block.records["encoder"][0].as_py(),
            split,
            ", ".join(filter(None, (task, metric, shown[0]))),
            shown[1],
            scores,
            scores.compared(),
            _models(block),
            tuple(same),
            tuple(cross),
            languages_of(block),
        )


def _models(block: Results) -> dict[Column, _Models]:
    records = block.records.select(["train", "selection"]).to_pylist()  # names as summaries have them
    members: dict[Column, list[dict]] = {}
    for (column, _), record in zip(in_columns(block), records, strict=True):
        members.setdefault(column, []).append(record)
    return {
        column: _Models(frozenset(each["train"] for each in rows), frozenset(each["selection"] for each in rows))
        for column, rows in members.items()
    }


def _table(
    name: str,
    caption: str,
    blocks: Sequence[_Block],
    lines: Callable[[_Block], Iterator[_Line]],
    beside: Paper | None,
    significance: Significance | None = None,
) -> Table:
    head = tuple(
        dict.fromkeys(column_head(block.scores, column) for block in blocks for column in block.scores.columns)
    )
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for block in blocks:
        columns = {column_head(block.scores, column): column for column in block.scores.columns}
        ordered = [columns.get(text) for text in head]
        rows: list[Row] = []
        for line in lines(block):
            printed = _row(block, line.keys, ordered, notes, significance)
            rows.append(Row(line.label, printed, "mean" if line.is_mean else "plain"))
            rows += _beside(block, line, ordered, printed, beside, notes) if beside is not None else []
        title = ", ".join(filter(None, (block.title, block.label)))
        groups[title] = (*groups.get(title, ()), *rows)
    return Table(name, caption + published_caption(beside, groups), head, groups, tuple(notes.texts))


def _row(
    block: _Block,
    keys: Sequence[Key],
    columns: Sequence[Column | None],
    notes: Notes,
    significance: Significance | None = None,
) -> tuple[Cell, ...]:
    """Make the cells of one target, or means over several."""
    return tuple(
        cell_of(
            mean_row(block.compared, keys, column) if column is not None else cells.EMPTY,
            "difference" if column is not None and block.scores.is_difference(column) else "score",
            notes,
            block.interval(significance, keys, column),
        )
        for column in columns
    )


def _beside(
    block: _Block, line: _Line, columns: Sequence[Column | None], ours: tuple[Cell, ...], paper: Paper, notes: Notes
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
        ours = _row(block, shared, columns, notes)
        yield Row(f"ours{over}", ours, "beside")
    means = [
        _mean_printed([number for key in shared if (number := theirs[key][place])]) if known else None
        for place, known in enumerate(there)
    ]
    yield from published_rows(paper, ours, means, notes, over)


def _mean_printed(numbers: Sequence[Printed]) -> Printed:
    remarks = "; ".join(dict.fromkeys(number.note for number in numbers if number.note))
    return Printed(statistics.fmean(number.value for number in numbers), numbers[0].table, remarks)
