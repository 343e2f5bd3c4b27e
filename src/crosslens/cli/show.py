"""What the terminal shows: tables on standard output, progress on standard error."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from crosslens.errors import RequestError
from crosslens.numbers import duration, plain, signed

if TYPE_CHECKING:
    import pandas

    from crosslens.report.table import Table as ReportTable
    from crosslens.report.writing import Spread
    from crosslens.results.record import Results


def _writing(kind: str, *, is_difference: bool) -> Callable[..., str]:
    if kind == "i":  # how many there are
        return lambda value, decimals: str(value)
    write = signed if is_difference else plain
    return lambda value, decimals: value if isinstance(value, str) else write(value, decimals=decimals)


def print_table(frame: "pandas.DataFrame", *, title: str, note: str = "", decimals: int = 2) -> None:
    """Print a frame of numbers, and words between them: its index on the left, means in bold, what is absent as a dash.

    A number is never cut short: what does not fit the terminal's width goes into a second table below the first.
    Columns that ``frame.attrs["differences"]`` names are differences, which have a sign.
    """
    from crosslens.results.table import CROSS, SAME

    differences = frame.attrs.get("differences", ())
    means = [(key[0] if isinstance(key, tuple) else key) in (SAME, CROSS) for key in frame.index]
    labels = [
        " ".join(str(part) for part in (key if isinstance(key, tuple) else (key,)) if str(part)) for key in frame.index
    ]
    columns = {
        str(name): [write(value, decimals=decimals) for value in frame[name]]
        for name in frame.columns
        for write in (_writing(frame[name].dtype.kind, is_difference=name in differences),)
    }
    console = Console(emoji=False)
    room = console.width if console.is_terminal else 10_000  # a file or a pipe has no edge
    console = Console(width=room, emoji=False)
    room -= max(map(len, labels), default=0) + 2
    for number, names in enumerate(_fitting(columns, room)):
        heading = title if number == 0 else "(further columns)"
        console.print(heading, style="bold", highlight=False, markup=False, soft_wrap=True)
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 1), pad_edge=False)
        table.add_column(" ".join(str(name) for name in frame.index.names if name), no_wrap=True)
        for name in names:
            table.add_column(name, justify="right", no_wrap=True)
        for row, (label, mean) in enumerate(zip(labels, means, strict=True)):
            cells = [columns[name][row] for name in names]
            table.add_row(label, *cells, style="bold" if mean else None, end_section=mean)
        console.print(table)
    if note:
        console.print(note, style="italic", highlight=False, markup=False, soft_wrap=True)


def _fitting(columns: dict[str, list[str]], room: int) -> Iterator[list[str]]:
    """The columns' names, in groups that fit the room; at least one a group."""
    group: list[str] = []
    used = 0
    for name, cells in columns.items():
        width = max(len(name), *map(len, cells)) + 2
        if group and used + width > room:
            yield group
            group, used = [], 0
        group.append(name)
        used += width
    yield group


LEVELS = {"above": "blue", "below": "", "two": "yellow", "five": "bold red"}
"""Level of a difference -> its style, readable on dark and light."""


def print_report(table: "ReportTable", *, spread: "Spread" = "none") -> None:
    """Print a paper's table: differences coloured by the paper's thresholds."""
    from crosslens.report.writing import number

    console = Console(emoji=False)
    console = Console(width=console.width if console.is_terminal else 10_000, emoji=False)
    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 1), pad_edge=False)
    drawn.add_column("", no_wrap=True)
    for head in table.head:
        drawn.add_column(Text(head), justify="right", no_wrap=True)
    for title, rows in table.groups.items():
        drawn.add_row(Text(title, style="italic"))
        for row in rows:
            style = {"mean": "bold", "beside": "dim"}.get(row.kind, "")
            cells = [Text(number(cell, spread=spread), style=LEVELS.get(cell.level or "", "")) for cell in row.cells]
            drawn.add_row(Text(("  " if row.kind == "beside" else "") + row.label), *cells, style=style)
    console.print(drawn)
    console.print(table.caption, highlight=False, markup=False, soft_wrap=True)
    for place, note in enumerate(table.notes, start=1):
        console.print(f"[{place}] {note}", highlight=False, markup=False, soft_wrap=True)


def say(text: str) -> None:
    """A line for the person at the terminal, on standard error."""
    Console(stderr=True, highlight=False, emoji=False).print(text, soft_wrap=True, markup=False)


def show_tables(results: "Results", *, metric: str | None = None) -> None:
    """Every table that records hold: a task, metric, source and encoder each, then similarities.

    Where records cannot stand in one table, the reason is printed in its place.

    Args:
        results: the records.
        metric: this one only; None: all of them.
    """
    from crosslens.results.cells import groups_of
    from crosslens.results.record import Results

    scores = results.filter(measure=None)
    for (task, name, source, encoder), block in groups_of(scores, "task", "metric", "source", "encoder"):
        if task and name == (metric or name):
            seeds = len(block.groups("seed"))
            title = f"{task} {name}, source {source}, {encoder}"
            _print_block(block, title=title, note=f"mean of {seeds} seed{'s' * (seeds > 1)}")
    similar = results.filter(metric="similarity") if metric in (None, "similarity") else Results.of([])
    for (encoder, task), block in groups_of(similar, "encoder", "task"):
        after = f", fine-tuned for {task}" if task else ""
        _print_block(block, title=f"similarity by layer, {encoder}{after}", decimals=3)


def _print_block(block: "Results", *, title: str, note: str = "", decimals: int = 2) -> None:
    """Print a table, or why there is none."""
    try:
        table = block.table()
    except RequestError as refused:
        Console(emoji=False).print(f"{title}: {refused}", highlight=False, markup=False, soft_wrap=True)
    else:
        print_table(table, title=title, note=note, decimals=decimals)


ODDITIES = {
    "unknown_gold": "gold labels never seen in training, which count as errors",
    "unknown_words": "words without a subword, read as the unknown token and scored",
    "cut_words": "words of so many subwords that only the first ones were read",
}


def say_oddities(results: "Results") -> None:
    """What a reader of the table should know of each corpus, on standard error."""
    for corpus, facts in zip(results.records["corpus"].to_pylist(), results.tags(), strict=True):
        for fact, words in ODDITIES.items():
            if facts.get(fact):
                say(f"{corpus}: {words}: {facts[fact]}")


EVERY = 20.0
"""Seconds between two lines of progress where there is no terminal to draw a bar on."""


@dataclass(slots=True)
class Bar:
    """A progress bar on standard error; where that is no terminal, a line now and then."""

    drawn: Progress
    task: TaskID
    lines: bool
    what: str
    began: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)

    def begin(self, what: str) -> None:
        """Another stage, with a time of its own."""
        self.drawn.reset(self.task, description=what)
        self.what, self.began = what, time.monotonic()

    def enter(self, stage: str) -> bool:
        """Begin a stage, if it is another one; whether it is."""
        new = stage != self.what
        if new:
            self.begin(stage)
        return new

    def show(self, done: int, total: int | None = None, words: str = "") -> None:
        """So much is done, of so much, and a few words."""
        self.drawn.update(self.task, completed=done, total=total, words=words)
        now = time.monotonic()
        if self.lines and now - self.told > EVERY:
            self.told = now
            left = f", {duration((now - self.began) / done * (total - done))} left" if done and total else ""
            say(" ".join(f"{self.what}: {done}{f' of {total}' if total else ''}{left} {words}".split()))


@contextmanager
def progress(what: str, *, shown: bool = True) -> Iterator[Bar]:
    """A bar that goes when the block ends."""
    console = Console(stderr=True, emoji=False)
    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(), TextColumn("{task.fields[words]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not (shown and console.is_terminal)) as drawn:
        yield Bar(drawn, drawn.add_task(what, total=None, words=""), shown and not console.is_terminal, what)
