"""Similarity, probes and transfer along pretraining, and the step at which half of the final change is reached."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from crosslens.errors import RequestError
from crosslens.formatting import counted
from crosslens.report.conditions.comparison import Comparison, comparisons
from crosslens.report.layers.by_layer import measures_of
from crosslens.report.table import Cell, Kind, Notes, Row, Table, cell_of, over_seeds
from crosslens.results import cells
from crosslens.results.cells import columns_of, condition_of, disambiguated, encoders_apart, pick_one
from crosslens.results.chart import pair_cells, sentences_apart
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results, concatenated
from crosslens.results.record_rows import together
from crosslens.tasks.titles import metric_name, task_name

CAPTION = "Similarity of translations, probes and scores of models fine-tuned from the encoder, by step of pretraining."

ONSETS = (
    "Onset: step at which half of the change from the first to the last checkpoint is reached, on straight lines"
    " between checkpoints, for each seed; none where the interval of the change includes 0. Lag: onset minus that of"
    " zero-shot transfer; negative is earlier."
)


Role = Literal["", "baseline", "source"]
"""What a quantity is beside what is studied."""


@dataclass(frozen=True, slots=True)
class Series:
    """A quantity along pretraining.

    Attributes:
        name: what is measured, and over what it is averaged.
        kind: kind of number.
        by_step: step -> value of each seed, ascending.
        aim: short name of the task of a zero-shot score; "" for anything else.
        role: ``baseline`` of another one, or ``source``: a score in the source language; "" for anything else.
    """

    encoder: str
    name: str
    kind: Kind
    by_step: Mapping[int, cells.Cell]
    aim: str = ""
    role: Role = ""

    @property
    def seeds(self) -> list[int | None]:
        """Seeds that have every step."""
        first, *others = self.by_step.values()
        return [seed for seed in first.by_seed if all(seed in cell.by_seed for cell in others)]

    @property
    def ends(self) -> tuple[int, int]:
        """The first step and the last."""
        first, *_, last = self.by_step
        return first, last

    def changes(self) -> Mapping[int | None, float]:
        """Change of each seed that has every step, from the first step to the last."""
        first, last = (list(self.by_step.values())[place] for place in (0, -1))
        return {seed: last.by_seed[seed] - first.by_seed[seed] for seed in self.seeds}

    def onsets(self) -> Mapping[int | None, float]:
        """Onset of each seed; none where the change may be chance, or is 0."""
        changes = self.changes()
        interval = over_seeds(cells.Cell(changes), "difference", Notes()).interval
        if not all(changes.values()) or (interval is not None and interval.low <= 0 <= interval.high):
            return {}
        steps = list(self.by_step)
        return {seed: onset(steps, [cell.by_seed[seed] for cell in self.by_step.values()]) for seed in self.seeds}


def onset(steps: Sequence[int], values: Sequence[float]) -> float:
    """Return the step at which a series of values first reaches half of its change from the first value to the last.

    >>> onset([0, 100, 200, 400], [0.0, 0.2, 0.8, 1.0])
    150.0

    Args:
        steps: ascending steps.
        values: value at each step; the last one differs from the first.
    """
    share = (np.asarray(values) - values[0]) / (values[-1] - values[0])
    place = int(np.argmax(share >= 0.5))
    return float(np.interp(0.5, share[place - 1 : place + 1], steps[place - 1 : place + 1]))


def pretraining_steps(results: Results) -> list[Table]:
    """Tabulate similarity, probes and scores by step of pretraining, and their onsets.

    Similarities and probes are means over layers, without the embeddings.

    Args:
        results: records of studies with checkpoints.

    Returns:
        Two tables, or none where no two checkpoints were measured.
    """
    series = series_of(results)
    if not series:
        return []
    steps = sorted({step for each in series for step in each.by_step})
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for each in series:
        most = cells.most_seeds(each.by_step.values())
        values = (cell_of(each.by_step.get(step, cells.EMPTY), each.kind, notes, most=most) for step in steps)
        row = Row(each.name, tuple(values))
        groups[each.encoder] = (*groups.get(each.encoder, ()), row)
    by_step = Table("pretraining-steps", CAPTION, tuple(map(str, steps)), groups, tuple(notes.texts))
    return [by_step, _onsets(series)]


def _onsets(series: Sequence[Series]) -> Table:
    aims = list(dict.fromkeys(each.aim for each in series if each.aim))
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for each in series:
        if each.role == "baseline":
            continue
        change, onsets = each.changes(), each.onsets()
        printed = [over_seeds(cells.Cell(change), each.kind, notes), over_seeds(cells.Cell(onsets), "step", notes)]
        printed = [_noted(cell, [each], len(each.seeds), notes) for cell in printed]
        for aim in aims:
            others = [other for other in series if other.encoder == each.encoder and other.aim == aim != each.aim][:1]
            if any(other.ends != each.ends for other in others):  # halves of changes over other stretches
                steps = " and ".join(f"{first} to {last}" for first, last in (each.ends, others[0].ends))
                printed.append(Cell(None, "lag", note=notes.number(f"no lag between changes over steps {steps}")))
                continue
            to = others[0].onsets() if others else {}
            lags = {seed: value - to[seed] for seed, value in onsets.items() if seed in to}
            lag = over_seeds(cells.Cell(lags), "lag", notes)
            printed.append(_noted(lag, [each, *others], len(lags), notes) if lags else lag)
        groups[each.encoder] = (*groups.get(each.encoder, ()), Row(each.name, tuple(printed)))
    return Table("onsets", ONSETS, ("change", "onset", *(f"lag to {aim}" for aim in aims)), groups, tuple(notes.texts))


def _noted(cell: Cell, series: Sequence[Series], seeds: int, notes: Notes) -> Cell:
    """Note how many seeds of the table by step a number leaves out."""
    measured = {seed for each in series for at in each.by_step.values() for seed in at.by_seed}
    excluded = len(measured) - seeds
    if not excluded or (cell.value is None and seeds):
        return cell
    return replace(cell, note=notes.number(f"number of seeds excluded for lack of a step: {excluded}"))


def series_of(results: Results) -> list[Series]:
    """List the quantities that were measured at several steps of pretraining, encoder by encoder."""
    gathered: dict[tuple[str, str, tuple[str, ...]], tuple[Kind, str, Role, dict[int, cells.Cell]]] = {}
    for encoder, step, (name, over, kind, aim, role, cell) in _measured_at_steps(encoders_apart(results)):
        if cell.by_seed:
            entry = gathered.setdefault((encoder, name, over), (kind, aim, role, {}))
            entry[-1][step] = cell
    series = []
    for (*named, over), (kind, aim, role, by_step) in gathered.items():
        alike = [others for *of, others in gathered if of == named]
        apart = ", ".join(each for each in over if any(each not in others for others in alike))
        name, aim = (f"{text} with {apart}" if text and apart else text for text in (named[1], aim))
        if len(by_step) > 1:
            series.append(Series(named[0], name, kind, dict(sorted(by_step.items())), aim, role))
    return series


def _measured_at_steps(results: Results) -> Iterator[tuple[str, int, "Measured"]]:
    """Yield encoder, step and what was measured: similarities, probes and scores."""
    by_step = _by_step(sentences_apart(results))
    every = concatenated(by_step.values())
    for step, records in sorted(by_step.items()):
        for (encoder,), block in records.groups("encoder"):
            yield from ((str(encoder), step, each) for each in (*_similarities(block, every), *_probes(block, every)))
    conditions = [text for text in results.columns.coded("condition").values if _step(text) is not None]
    yield from _scores(results.filter(condition=conditions))


def last_checkpoints(results: Results) -> Results:
    """Leave out the records of all checkpoints but the last one of each encoder, task and measure: those of all are in
    the tables of `pretraining_steps`.
    """
    models = encoders_apart(results).columns.together("encoder", "task", "measure", "condition")
    measured = [(of, _step(condition)) for *of, condition in models.values]
    steps: dict[tuple, set[int]] = {}
    for of, step in measured:
        if step is not None:
            steps.setdefault(tuple(of), set()).add(step)
    kept = [step is None or step == max(steps[tuple(of)]) for of, step in measured]
    return results if all(kept) else results.where(np.array(kept, bool)[models.codes])


def _step(text: str | None) -> int | None:
    checkpoint = condition_of(text).checkpoint
    return checkpoint.step if checkpoint is not None else None


def _by_step(results: Results) -> dict[int, Results]:
    """Step -> records of its checkpoint, with conditions that do not name it."""
    parts: dict[int, list[Results]] = {}
    for text in results.columns.coded("condition").values:
        step = _step(text)
        if step is not None:
            without = condition_of(text).at(None).text
            parts.setdefault(step, []).append(results.filter(condition=text).with_columns(condition=without))
    return {step: concatenated(records) for step, records in parts.items()}


Measured = tuple[str, tuple[str, ...], Kind, str, Role, cells.Cell]
"""Name of a series, what it is a mean over, its kind, aim and role, and its value at one step."""


def _similarities(results: Results, every: Results) -> Iterator[Measured]:
    named, of_all_steps = (
        each.filter(metric="similarity", state="pretrained", target_layer=None) for each in (results, every)
    )
    for measure, words, block in _measured(named, of_all_steps):
        table = pair_cells(block)
        if not table.rows:
            continue
        pairs = sorted(f"{source}–{target}" for source, target, *_ in table.rows)
        over = f"mean of {len(pairs)} pairs" if len(pairs) > 1 else pairs[0]
        name = ", ".join([metric_name(measure), over, _layers(table), *words])
        role = "" if measure in measures_of(named) else "baseline"
        yield name, tuple(pairs), "similarity", "", role, _mean(table, table.rows)


def _probes(results: Results, every: Results) -> Iterator[Measured]:
    probes, of_all_steps = (each.filter(metric="accuracy", target=None, task=None) for each in (results, every))
    for measure, words, block in _measured(probes, of_all_steps):
        table = cells.cells(block, rows=("measure",), columns=("layer",))
        yield ", ".join([measure, _layers(table), *words]), (), "score", "", "", _mean(table, table.rows)


def _measured(results: Results, every: Results) -> Iterator[tuple[str, list[str], Results]]:
    """Yield each measure by corpus and settings, which are named where there are several at any step."""
    for (measure, *key), block in results.groups("measure", "corpus", "settings"):
        if measure is not None:
            alike = every.filter(measure=measure)
            several = [len(alike.groups(name)) > 1 for name in ("corpus", "settings")]
            yield measure, [word for word, varies in zip(key, several, strict=True) if word and varies], block


def _layers(table: cells.Cells) -> str:
    return f"mean of {counted(sum(layer > 0 for layer in table.columns), 'layer', 'layers')}"


def _mean(table: cells.Cells, rows: Iterable[cells.Key]) -> cells.Cell:
    """Mean over rows and over layers without the embeddings."""
    return cells.mean_of([table.get(row, layer) for row in rows for layer in table.columns if layer > 0])


def _scores(results: Results) -> Iterator[tuple[str, int, Measured]]:
    """Yield encoder, step and mean score; steps with scores on other corpora have rows of their own."""
    for block in comparisons(results):
        score = f"{task_name(block.task)}, {metric_name(block.metric)}, source {block.source}"
        for column, by_step in _columns_by_step(block).items():
            is_reference = column.condition.is_reference and not column.variant
            words = (block.label, None if is_reference else column.label)
            changed = "".join(f", {word}" for word in words if word)
            for keys, kind in ((block.same, ""), (block.cross, "zero-shot ")):
                for step, at_step in by_step.items():
                    part = [key for key in keys if block.scores.get(key, at_step).by_seed]
                    if part:
                        of = f", mean of {block.over(part)}" if len(part) > 1 else f": {block.over(part)}"
                        aim, role = (f"{kind}{block.task}{changed}", "") if kind else ("", "source")
                        name, corpora = f"{kind}{score}{of}{changed}", tuple(map(block.name, part))
                        cell = mean_row(block.scores, part, at_step)
                        yield str(block.encoder), step, (name, corpora, "score", aim, role, cell)


def _columns_by_step(block: Comparison) -> dict[cells.Column, dict[int, cells.Column]]:
    """Column without the step of pretraining -> step -> column."""
    records = disambiguated(block.records)
    without_step = records.changed("condition", lambda text: condition_of(text).at(None).text)
    placed = together([columns_of(records), columns_of(without_step)], size=len(block.records))
    columns: dict[cells.Column, dict[int, cells.Column]] = {}
    for column, kind in placed.values:
        by_step, step = columns.setdefault(kind, {}), _step(block.models[column].condition.text)
        if step in by_step:
            raise RequestError(f"there are two checkpoints of step {step}", hint=pick_one("condition"))
        if step is not None:
            by_step[step] = column
    return columns
