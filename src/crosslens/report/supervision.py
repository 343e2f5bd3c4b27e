"""Tables 2 to 6 of Wu & Dredze (2019): scores by what models were trained on."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crosslens.report.cells import Cell, Row, Table, cell_of
from crosslens.report.published import Paper
from crosslens.results.record import Results
from crosslens.results.table import UNKNOWN, values_by_seed
from crosslens.tasks import TASKS, find_task

SETTINGS = ("in-language", "translate-train", "zero-shot")
"""Trained on data of the language itself; on the source's, translated; on the source's."""


@dataclass(frozen=True, slots=True)
class _Setting:
    """A column to be.

    Attributes:
        name: one of `SETTINGS`.
        source: the language trained on; None where each row has its own.
        words: what else tells it apart: settings, the encoder.
        scores: target -> score.
    """

    name: str
    source: str | None
    words: str
    scores: dict[str, Cell]

    @property
    def label(self) -> str:
        name = f"{self.name} from {self.source}" if self.source else self.name
        return ", ".join(filter(None, (name, self.words)))

    @property
    def others(self) -> list[str]:
        """The targets that the mean is over: of a source's row all but its own language."""
        return [target for target in self.scores if target != self.source]


def supervision(results: Results, *, beside: Paper | None = None) -> list[Table]:
    """A row a language, a column a setting, and the mean over all languages but the source.

    Args:
        results: of a study, or put together.
        beside: a paper whose numbers stand below ours; a task it prints is shown by the metrics that it prints.

    Returns:
        A table for every task with models of several sources, or that the paper prints.
    """
    tables = []
    for (task, metric), block in results.groups("task", "metric"):
        if task not in TASKS or block.records["measure"].null_count < len(block.records):
            continue
        printed = beside is not None and any(beside.supervised(task, metric, name) for name in SETTINGS)
        compared = metric == find_task(task).metric and len(block.records["source"].unique()) > 1
        rows = list(_settings(block)) if printed or compared else []
        if rows:
            tables.append(_table(task, metric, rows, beside))
    return tables


def _settings(results: Results) -> Iterator[_Setting]:
    """The columns, in-language ones first."""
    several = len(results.records["encoder"].unique()) > 1
    found: dict[tuple[str, str | None, str], dict[str, Cell]] = {}
    values = _by_source(results)
    sources = len({source for _, source, _, _ in values})
    for (encoder, source, translated, variant), scores in values.items():
        words = ", ".join(filter(None, (variant, encoder if several else "")))
        own = "translate-train" if translated else "in-language"
        if source in scores and (translated or sources > 1):  # else the row of the source says it
            found.setdefault((own, None, words), {})[source] = scores[source]
        if not translated and set(scores) - {source}:
            found[("zero-shot", source, words)] = scores
    for (name, source, words), scores in sorted(found.items(), key=lambda item: SETTINGS.index(item[0][0])):
        yield _Setting(name, source, words, scores)


def _by_source(results: Results) -> dict[tuple[str, str, bool, str], dict[str, Cell]]:
    """(encoder, source, translated, settings) -> target -> score of the reference."""
    found = {}
    for (encoder, source), block in results.groups("encoder", "source"):
        if source is None:
            continue
        frame = block.to_pandas()
        translated = ["training_translated_from" in json.loads(text) for text in frame["tags"]]
        for kind, its in frame.groupby(translated):
            table = values_by_seed(its, compared="nothing")
            for column in table.columns:
                condition, _, variant = column.partition(", ")
                if condition != "reference":
                    continue
                found[(str(encoder), str(source), bool(kind), variant)] = {
                    str(target): cell_of(values, "score")
                    for target, values in table[column].dropna().groupby(level="target")
                    if target != UNKNOWN
                }
    return found


def _table(task: str, metric: str, settings: Sequence[_Setting], beside: Paper | None) -> Table:
    targets = sorted({target for setting in settings for target in setting.scores})
    head: list[str] = []
    columns: list[list[Cell]] = []  # of each target, and the mean behind them
    for setting in settings:
        over = [setting.scores[target].value for target in setting.others]
        ours = [*(setting.scores.get(target, NOTHING) for target in targets), _mean(over)]
        head.append(setting.label)
        columns.append(ours)
        named = setting.name + ("+gold-pos" if "tags=gold" in setting.words else "")
        printed = beside.supervised(task, metric, named) if beside is not None else {}
        if beside is None or not set(printed) & set(setting.scores):
            continue
        known = {target: its.value for target, its in printed.items() if target in setting.scores}
        whole = [known[target] for target in setting.others if target in known]
        theirs = [*(Cell(known.get(target), "score") for target in targets)]
        theirs.append(_mean(whole if len(whole) == len(setting.others) else []))
        head += [beside.name, "ours − theirs"]
        columns += [theirs, [_beyond(mine, its) for mine, its in zip(ours, theirs, strict=True)]]
    rows = [
        Row(target, tuple(column[place] for column in columns), "plain" if target in targets else "mean")
        for place, target in enumerate([*targets, "mean"])
    ]
    caption = f"{task}, {metric}: scores by what models were trained on. The mean is over all languages but the source."
    if beside is not None:
        caption += f" Behind ours: {beside.name} as printed ({beside.data(task)}), and ours minus it."
    return Table(f"supervision-{task}-{metric}", caption, tuple(head), {f"{task}, {metric}": tuple(rows)})


NOTHING = Cell(None, "score")


def _mean(values: Sequence[float | None]) -> Cell:
    return Cell(statistics.fmean(value for value in values if value is not None), "score") if values else NOTHING


def _beyond(ours: Cell, theirs: Cell) -> Cell:
    if ours.value is None or theirs.value is None:
        return Cell(None, "beyond")
    return Cell(ours.value - theirs.value, "beyond")
