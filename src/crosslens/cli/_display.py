"""Terminal output: tables on standard output, progress on standard error."""

import json
import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.text import Text

from crosslens.cli._columns import Line, output, print_lines
from crosslens.cli._encoding import is_unicode
from crosslens.cli._sparkline import BARS, LEAST, largest_loss, sparkline
from crosslens.errors import RequestError
from crosslens.formatting import duration
from crosslens.progress import SILENT, Progress, Update

if TYPE_CHECKING:
    import pandas

    from crosslens.report.render import Spread
    from crosslens.report.table import Cell as ReportCell
    from crosslens.report.table import Table as ReportTable
    from crosslens.results.order import Order
    from crosslens.results.pivot import Section
    from crosslens.results.record import Results


PROFILE = "loss"
"""Head of the column of sparklines."""

MANY = 3
"""Conditions from which on there are sparklines."""


def print_table(frame: "pandas.DataFrame", *, title: str, note: str = "", decimals: int = 2) -> None:
    """Print a table, with means in bold, missing values as a dash, and missing names, as of languages, as ``?``.

    Columns that do not fit the terminal continue in a further table below. Columns named in
    ``frame.attrs["differences"]`` are printed with a sign. In a terminal they have the colours of `LEVELS`, and three
    or more named in ``frame.attrs["profile"]`` are drawn as a sparkline of losses too.
    """
    import pandas as pd

    from crosslens.report.table import Cell
    from crosslens.results.pivot import CROSS, SAME, UNKNOWN, writers

    keys = [key if isinstance(key, tuple) else (key,) for key in frame.index]
    means = [key[0] in (SAME, CROSS) for key in keys]
    # A missing name is NaN in pandas; as text that would be Min Nan (nan).
    names = [[UNKNOWN if pd.isna(part) else str(part) for part in key] for key in keys]
    labels = [" ".join(filter(None, parts)) for parts in names]
    columns = {
        str(name): [write(value) for value in frame[name]] for name, write in writers(frame, decimals=decimals).items()
    }
    styles = {
        name: [LEVELS.get(Cell(value, "difference").level or "", "") for value in frame[name]]
        for name in frame.attrs.get("differences", ())
    }
    profile = frame.attrs.get("profile", ())
    most = 0.0
    console = output()
    if console.is_terminal and is_unicode(console.encoding) and len(profile) >= MANY:
        rows = frame[profile].to_numpy().tolist()
        most = max(largest_loss(row) for row in rows)
        columns = {PROFILE: [sparkline(row, most=most) for row in rows], **columns}
    cells = [
        [Text(text, style) for text, style in zip(texts, styles.get(name, [""] * len(texts)), strict=True)]
        for name, texts in columns.items()
    ]
    lines = [
        Line(label, [column[row] for column in cells], "bold" if mean else "", ends=mean)
        for row, (label, mean) in enumerate(zip(labels, means, strict=True))
    ]
    corner = " ".join(str(name) for name in frame.index.names if name)
    print_lines(console, lines, corner=corner, heads=list(columns), title=title)
    if PROFILE in columns:
        heads = f"{profile[0]} to {profile[-1].removeprefix('Δ ')}"
        bars = f"{PROFILE}: {heads}; {BARS[-1]} is a loss of {max(most, LEAST):.1f} points"
        console.print(bars, style="italic", highlight=False)
    if note:
        console.print(note, style="italic", highlight=False, markup=False, soft_wrap=True)


def print_object(value: Any) -> None:
    """Print lists, mappings and dataclasses as JSON, with null for missing values."""
    _print_as_json(_plain(value))


def _print_as_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=not is_unicode(sys.stdout.encoding), indent=1, allow_nan=False))


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_records(results: "Results") -> None:
    """Print records as a JSON list of objects, with null for columns that do not apply."""
    rows = [{**row, "tags": tags} for row, tags in zip(results.records.to_pylist(), results.tags(), strict=True)]
    _print_as_json(rows)


LEVELS = {"above": "blue", "below": "", "two": "yellow", "five": "bold red"}
"""Level of a difference -> style, readable on dark and light backgrounds."""


def print_report(table: "ReportTable", *, spread: "Spread" = "none") -> None:
    """Print a table of a report, with differences coloured by the paper's thresholds."""
    from crosslens.report.render import marks, number

    def write(cell: "ReportCell") -> str:
        text = number(cell, spread=spread)
        return f"{text} [{cell.note}]" if cell.note else text

    lines: list[Line] = []
    for title, rows in table.groups.items():
        lines.append(Line(title, style="italic"))
        for row in rows:
            style = {"mean": "bold", "beside": "dim"}.get(row.kind, "")
            cells = [Text(write(cell), LEVELS.get(cell.level or "", "")) for cell in row.cells]
            lines.append(Line(("  " if row.kind == "beside" else "") + row.label, cells, style))
    console = output()
    print_lines(console, lines, corner="", heads=table.full_heads)
    console.print(table.caption + marks(table, spread), highlight=False, markup=False, soft_wrap=True)
    for index, note in enumerate(table.notes, start=1):
        console.print(f"[{index}] {note}", highlight=False, markup=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a line on standard error."""
    Console(stderr=True, highlight=False, emoji=False).print(text, soft_wrap=True, markup=False)


def show_tables(
    results: "Results", *, metric: str | None = None, sort: "Order" = "score", notes: Iterable[str] = ()
) -> None:
    """Print the tables of all `crosslens.results.pivot.sections`, then notes on all of them.

    If records contradict one another, the reason is printed instead of the table.

    Args:
        metric: metric to print, or ``all``; None: the main metric of each task, with the names of the others below.
        sort: order of the languages.
        notes: lines below the tables, such as corpora that were not evaluated.
    """
    from crosslens.results.pivot import main_scores, sections

    shown = results = results.sorted(sort)
    more: list[str] = []
    if metric is None:
        shown, more = main_scores(results)
    elif metric != "all":
        shown = results.filter(metric=metric)
    for section in sections(shown):
        _print_section(section)
    if more:
        notes = [*notes, f"not shown: {', '.join(more)}; see crosslens results --metric NAME, or --metric all"]
    for note in notes:
        Console(emoji=False).print(note, style="italic", highlight=False, markup=False, soft_wrap=True)


def _print_section(section: "Section") -> None:
    """Print a table, or the reason why it cannot be printed."""
    from crosslens.results.pivot import tabulated

    try:
        table = tabulated(section.records)
    except RequestError as error:
        Console(emoji=False).print(f"{section.title}: {error}", highlight=False, markup=False, soft_wrap=True)
    else:
        print_table(table, title=section.title, note=section.note, decimals=section.decimals)


ODDITIES = {
    "unknown_gold": "gold labels absent from the training data, counted as errors",
    "same_gold": "gold labels are all the same, as in the first lines of a file sorted by label",
    "unknown_words": "words without subwords, encoded as the unknown token and scored",
    "cut_words": "words truncated to their first subwords because they have too many",
}


def say_oddities(results: "Results") -> None:
    """Print warnings about each corpus on standard error."""
    for corpus, facts in zip(results.records["corpus"].to_pylist(), results.tags(), strict=True):
        for fact, words in ODDITIES.items():
            if facts.get(fact):
                say(f"{corpus}: {words}: {facts[fact]}")
    for record in results.filter(target=None):
        say(f"{record.corpus}: language unknown, so the score is in no mean: name it, as in fr={record.corpus}")


LINE_EVERY = 10.0
"""Seconds between two progress lines if standard error is not a terminal."""


@dataclass(slots=True)
class _Stage:
    """The current stage: its first and latest update, and the times of its start and of its latest completed unit."""

    first: Update
    latest: Update
    began: float
    advanced: float


@dataclass(slots=True)
class Log:
    """Progress as lines: at the beginning and end of a stage, and every ten seconds in between.

    Attributes:
        every: seconds between two lines of a stage.
        beginnings: whether to write a line when a stage begins; not needed next to a bar.
    """

    write: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    every: float = LINE_EVERY
    beginnings: bool = True
    stage: _Stage | None = None
    written: float = 0.0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Record an update of a stage, and write a line if one is due."""
        update = Update(stage, done, total, unit, note)
        with self.lock:
            if self.stage is None or self.stage.latest.stage != stage or done < self.stage.latest.done:
                self.end()
                self.begin(update)
            else:
                if done > self.stage.latest.done:
                    self.stage.advanced = self.clock()
                self.stage.latest = update
                self.beat()

    def say(self, text: str) -> None:
        """Write a line."""
        with self.lock:
            self.write(text)

    def begin(self, update: Update) -> None:
        """Begin a stage."""
        now = self.clock()
        self.stage = _Stage(update, update, now, now)
        self.written = now
        if self.beginnings:
            from_the_start = update.total is not None and update.done <= 1
            amount = (replace(update, done=update.total, total=None) if from_the_start else update).counted
            self.write(": ".join(filter(None, (update.stage, amount))) + " …")

    def beat(self) -> None:
        """Write the progress of the stage if the last line is old enough."""
        with self.lock:
            now = self.clock()
            if self.stage is None or now - self.written < self.every:
                return
            self.written = now
            first, latest, passed = self.stage.first, self.stage.latest, now - self.stage.began
            words = [latest.counted, f"{duration(passed)} so far"]
            if latest.total and first.done < latest.done < latest.total:
                # The pace up to the latest completed unit: otherwise the estimate grows while a unit takes long.
                each = (self.stage.advanced - self.stage.began) / (latest.done - first.done)
                remaining = each * (latest.total - latest.done) - (now - self.stage.advanced)
                words += [f"about {duration(remaining)} left"] if remaining > 0 else []
            self.write(f"{latest.stage}: {', '.join(filter(None, [*words, latest.note]))}")

    def end(self, *, well: bool = True) -> None:
        """End the stage."""
        with self.lock:
            if self.stage is None:
                return
            latest, passed = self.stage.latest, duration(self.clock() - self.stage.began)
            self.stage = None
            words = f"done in {passed}" if well else f"stopped after {passed}"
            facts = ", ".join(filter(None, (latest.counted, latest.note)))
            self.write(f"{latest.stage}: {words}" + (f" ({facts})" if facts else ""))


@dataclass(slots=True)
class Bar:
    """Progress as a bar for the current stage; finished stages leave a line."""

    log: Log
    bars: Bars
    task: TaskID

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        """Draw the progress of a stage."""
        before = self.log.stage
        self.log.report(stage, done, total, unit, note)
        if self.log.stage is not before:
            self.bars.reset(self.task, description=stage, visible=True)
        counted = Update(stage, done, total, unit).counted
        self.bars.update(self.task, completed=done, total=total, counted=counted, note=note)

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self.log.say(text)


@contextmanager
def progress(*, shown: bool = True) -> Iterator[Progress]:
    """Show progress on standard error while the block runs: a bar on a terminal, lines elsewhere.

    Args:
        shown: whether to show anything; False in all but the first process of distributed training.
    """
    if not shown:
        yield SILENT
        return
    console = Console(stderr=True, emoji=False)
    lines = not console.is_terminal
    log = Log(say, every=LINE_EVERY if lines else float("inf"), beginnings=lines)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[counted]}"),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Bars(*columns, console=console, transient=True, disable=lines) as bars, _beating(log, on=lines):
        task = bars.add_task("", total=None, visible=False, counted="", note="")
        try:
            yield log if lines else Bar(log, bars, task)
        except BaseException:
            log.end(well=False)
            raise
        log.end()


@contextmanager
def _beating(log: Log, *, on: bool) -> Iterator[None]:
    """Keep writing progress lines while the work reports nothing."""
    finished = threading.Event()

    def beat() -> None:
        while not finished.wait(1):
            log.beat()

    thread = threading.Thread(target=beat, daemon=True)
    if on:
        thread.start()
    try:
        yield
    finally:
        finished.set()
