"""The papers' tables: what stands in which row and column. How it is written is another matter (`writing`)."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from crosslens.errors import RequestError
from crosslens.report.cells import Cell, Row, Table, cell_of, rows_beside, said_beside, short
from crosslens.report.published import OTHERS, Paper
from crosslens.report.supervision import supervision
from crosslens.report.tested import Tested
from crosslens.results.chart import NULLS
from crosslens.results.record import Results
from crosslens.results.table import UNKNOWN, values_by_seed
from crosslens.similarity.transfer import Correlated, correlations
from crosslens.tasks import TASKS, find_task

if TYPE_CHECKING:
    import pandas


def all_tables(results: Results, *, beside: Paper | None = None, tested: Tested | None = None) -> list[Table]:
    """Every table that the records fill.

    Args:
        results: of a study, or put together.
        beside: a paper whose numbers stand under ours wherever task, source, target and layers are the same.
        tested: intervals and tests of single targets.

    Raises:
        RequestError: when they fill none.
    """
    tables = [
        *layer_deltas(results, beside=beside),
        *by_target(results, beside=beside, tested=tested),
        *layer_sets(results, beside=beside),
        *supervision(results, beside=beside),
    ]
    tables += correlation(results, beside=beside)
    if not tables:
        raise RequestError("these results fill no table", hint="scores do")
    return tables


@cache
def main_metric(task: str | None) -> str | None:
    """The score that a task's tables show; None of what is no task."""
    return find_task(task).metric if task in TASKS else None


def layer_deltas(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 1 of Muller et al. (2021): same-language and mean cross-language scores, and what each set of layers costs.

    Returns:
        One table, or none where there are no scores.
    """
    caption = (
        "The reference's scores, and differences when layers are drawn anew or frozen, or pretraining is another."
        " x: mean over other languages."
    )
    blocks = list(_blocks(results))
    return [_table("layer-deltas", caption, blocks, _means, beside)] if blocks else []


def by_target(results: Results, *, beside: Paper | None = None, tested: Tested | None = None) -> list[Table]:
    """Tables 2 and 6 to 8 of Muller et al. (2021): the same target by target, or corpus by corpus; a table a task."""
    caption = (
        "The reference's scores by target, and differences when layers are drawn anew or frozen, or pretraining is"
        " another."
    )
    blocks = list(_blocks(results))
    tasks = dict.fromkeys(block.task for block in blocks)
    return [
        _table(
            f"by-target-{task}", caption, [block for block in blocks if block.task == task], _targets, beside, tested
        )
        for task in tasks
    ]


def layer_sets(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 5 of Muller et al. (2021): scores themselves, a row a target and a column a set of layers.

    Returns:
        One table, or none where there are no scores.
    """
    blocks = list(_blocks(results, compared="nothing"))
    if not blocks:
        return []
    head = tuple(dict.fromkeys(column for block in blocks for column in block.values.columns))
    groups: dict[str, tuple[Row, ...]] = {}
    for block in blocks:
        rows: list[Row] = []
        for part in (block.same, block.cross):
            for (target, corpus), its in part.groupby(level=["target", "corpus"], sort=True):
                cells = tuple(cell_of(its.get(column), "score") for column in head)
                rows.append(Row(" ".join(filter(None, (block.called[corpus], block.split))), cells))
                if beside is not None:
                    theirs = [beside.score(block.task, block.source, target, block.of, column) for column in head]
                    rows += rows_beside(beside, cells, theirs, [])
        title = f"{block.title}, source {block.source}"
        groups[title] = (*groups.get(title, ()), *rows)
    spread = [cell.std for rows in groups.values() for row in rows for cell in row.cells if cell.std is not None]
    caption = "Scores by the layers drawn anew."
    if spread:
        middle = statistics.median(spread)
        caption += f" Standard deviations over seeds: {min(spread):.2f} to {max(spread):.2f}, median {middle:.2f}."
    caption += said_beside(beside)
    return [Table("layer-sets", caption, short(head), groups)]


def correlation(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """Table 4 of Muller et al. (2021): Spearman's correlation of gap and similarity, for each task and state.

    The gap is same-language minus cross-language, so good similarities correlate negatively; the paper prints the same
    with the other sign.

    Returns:
        One table, or none where the records do not hold both, for three languages.
    """
    measures = [measure for (measure,), _ in results.groups("measure") if measure and measure.startswith("cka")]
    kept = [measure for measure in measures if not measure.endswith(tuple(filter(None, NULLS)))]
    try:
        found = correlations(results, measures=kept)
    except RequestError:
        return []
    head = tuple(dict.fromkeys(f"{its.called} {its.source}" for its in found))
    notes = tuple(dict.fromkeys(_said(its) for its in found))
    groups: dict[str, tuple[Row, ...]] = {}
    for measure, state in dict.fromkeys((its.measure, its.state) for its in found):
        cells = {
            f"{its.called} {its.source}": Cell(its.found.value, "coefficient", note=notes.index(_said(its)) + 1)
            for its in found
            if (its.measure, its.state) == (measure, state)
        }
        row = Row(state, tuple(cells.get(column, Cell(None, "coefficient")) for column in head))
        groups[measure] = (*groups.get(measure, ()), row)
        if beside is not None and measure == "cka":
            theirs = [beside.correlation(column.split()[0].rstrip(","), state) for column in head]
            groups[measure] += tuple(rows_beside(beside, row.cells, theirs, []))
    caption = "Spearman's correlation over languages of gap (same- minus cross-language) and similarity (all layers)."
    caption += said_beside(beside)
    return [Table("correlation", caption, head, groups, notes)]


def _said(its: Correlated) -> str:
    return f"p {its.found.p:.3f} by permuting {len(its.found.languages)} languages"


@dataclass(frozen=True, slots=True)
class _Block:
    """The scores of one task, source, encoder and split (``of``), seed by seed; it is said where there are several."""

    task: str
    source: str
    trained_on: str | None
    encoder: str | None
    split: str | None
    of: str | None
    values: "pandas.DataFrame"

    @property
    def title(self) -> str:
        return ", ".join(filter(None, (self.task, find_task(self.task).metric, self.encoder)))

    @property
    def same(self) -> "pandas.DataFrame":
        return self.values[self.values.index.get_level_values("target") == self.source]

    @property
    def cross(self) -> "pandas.DataFrame":
        targets = self.values.index.get_level_values("target")
        return self.values[(targets != self.source) & (targets != UNKNOWN)]

    @property
    def called(self) -> dict[str, str]:
        """Corpus -> its language where it is the only one of it, or else its name."""
        pairs = self.values.index.droplevel("seed").unique().tolist()
        many = Counter(target for target, _ in pairs)
        return {corpus: target if many[target] == 1 else corpus for target, corpus in pairs}

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(name for name in (self.trained_on, self.source) if name)


@dataclass(frozen=True, slots=True)
class _Line:
    """Values of one row to be, ``(seeds, conditions)``, and the names by which a paper may know its target."""

    label: str
    targets: tuple[str, ...]
    values: "pandas.DataFrame"
    corpus: str = ""


def _means(block: _Block) -> Iterator[_Line]:
    if len(block.same):
        yield _Line(f"{block.source} – {block.source}", (block.source,), block.same.groupby(level="seed").mean())
    if len(block.cross):
        yield _Line(f"{block.source} – {OTHERS}", (OTHERS,), block.cross.groupby(level="seed").mean())


def _targets(block: _Block) -> Iterator[_Line]:
    for part in (block.same, block.cross):
        for (target, corpus), its in part.groupby(level=["target", "corpus"], sort=True):
            bank = _bank(corpus)
            # A paper's language is its test set of that language, which of treebanks is PUD.
            alike = (target,) if bank is None or bank.endswith("_pud") else ()
            names = ((bank,) if bank else ()) + alike
            yield _Line(f"{block.source} – {block.called[corpus]}", names, its.droplevel(["target", "corpus"]), corpus)
    if len(block.cross):
        yield _Line(f"{block.source} – {OTHERS}", (OTHERS,), block.cross.groupby(level="seed").mean())


def _bank(corpus: str) -> str | None:
    """``en_partut`` of ``ud/en_partut:train``."""
    found = re.match(r"\w+/(\w+_\w+)", corpus)
    return found[1] if found else None


def _blocks(results: Results, *, compared: Literal["reference", "nothing"] = "reference") -> Iterator[_Block]:
    groups = [
        (key, block)
        for key, block in results.groups("task", "metric", "encoder", "source", "split")
        if key[1] is not None and key[1] == main_metric(key[0]) and key[3] is not None
    ]
    several = [len({key[place] for key, _ in groups}) > 1 for place in (2, 4)]
    for (task, _, encoder, source, split), block in groups:
        said = [name if many else None for name, many in zip((encoder, split), several, strict=True)]
        trained_on = json.loads(block.records["tags"][0].as_py()).get("training_train", "")
        values = values_by_seed(block.to_pandas(), compared=compared)
        yield _Block(task, source, _bank(trained_on), *said, split, values)


def _table(
    name: str,
    caption: str,
    blocks: Sequence[_Block],
    lines: Callable[[_Block], Iterator[_Line]],
    beside: Paper | None,
    tested: Tested | None = None,
) -> Table:
    head = list(dict.fromkeys(column for block in blocks for column in block.values.columns))
    groups: dict[str, tuple[Row, ...]] = {}
    notes: list[str] = []
    for block in blocks:
        rows: list[Row] = []
        for line in lines(block):
            cells = tuple(
                replace(
                    cell_of(line.values.get(column), "difference" if column.startswith("Δ") else "score"),
                    found=(tested or {}).get((block.task, block.source, line.corpus, column.removeprefix("Δ "))),
                )
                for column in head
            )
            rows.append(Row(line.label, cells, "mean" if line.targets == (OTHERS,) else "plain"))
            if beside is not None:
                names = [column.removeprefix("Δ ") for column in head]
                theirs = [beside.find(block.task, block.sources, line.targets, name) for name in names]
                rows += rows_beside(beside, cells, theirs, notes)
        title = ", ".join(filter(None, (block.title, block.split)))
        groups[title] = (*groups.get(title, ()), *rows)
    return Table(name, caption + said_beside(beside), short(head), groups, tuple(notes))
