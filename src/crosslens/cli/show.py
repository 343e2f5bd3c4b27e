"""What the terminal shows: tables on standard output, progress on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    import pandas

# Left-to-right marks around names: a right-to-left name must not carry its row's numbers to the other side.
_ISOLATE, _POP = "\u2068", "\u2069"


def print_table(frame: "pandas.DataFrame", *, title: str, note: str = "", decimals: int = 2) -> None:
    """Print a frame of numbers: its index on the left, means in bold, what is absent as a dash."""
    table = Table(title=title, title_justify="left", title_style="bold", caption=note or None, caption_justify="left")
    names = [name or "" for name in frame.index.names]
    for name in names:
        table.add_column(str(name), overflow="fold")
    for column in frame.columns:
        table.add_column(str(column), justify="right", no_wrap=True)
    for key, row in frame.iterrows():
        keys = key if isinstance(key, tuple) else (key,)
        cells = ["–" if value != value else _number(value, str(column), decimals) for column, value in row.items()]
        mean = str(keys[0]).endswith(" mean")
        table.add_row(*[str(part) for part in keys], *cells, style="bold" if mean else None, end_section=mean)
    console = Console()
    if not console.is_terminal:  # a file or a pipe has no edge to wrap at
        console = Console(width=max(100, console.measure(table).maximum))
    console.print(table)


def _number(value: float, column: str, decimals: int) -> str:
    sign = "+" if column.startswith("Δ") else ""
    return f"{value:{sign}.{decimals}f}".replace("-", "−")


def say(text: str) -> None:
    """A line for the person at the terminal, on standard error."""
    Console(stderr=True, highlight=False).print(text, soft_wrap=True, markup=False)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
    """A bar on standard error; the block calls what it is given with the steps done and a few words.

    Where standard error is no terminal nothing is drawn.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("ETA"), TimeRemainingColumn(), TextColumn("{task.fields[words]}"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total, words="")

        def update(done: int, words: str = "") -> None:
            bar.update(task, completed=done, words=words)

        update.total = lambda total: bar.update(task, total=total)  # type: ignore[attr-defined]
        yield update
