"""Tables as wide as the terminal: long names are shortened, and columns that do not fit continue below."""

import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from crosslens.formatting import broken

BETWEEN = 3
"""Cells between two columns."""

NAMES = 0.45
"""Part of the width that the names of rows may have."""

UNLIMITED = 10_000
"""Width of files and pipes, which have none."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table.

    Attributes:
        name: first column.
        numbers: one text for each head; none in the title of a group.
        style: of the whole row.
        ends: whether a gap follows.
    """

    name: str
    numbers: Sequence[Text] = ()
    style: str = ""
    ends: bool = False


def output(width: int = UNLIMITED) -> Console:
    """Standard output, as wide as the terminal; files and pipes have this width."""
    console = Console(emoji=False)
    return console if console.is_terminal else Console(width=width, emoji=False)


def print_lines(console: Console, lines: Sequence[Line], *, corner: str, heads: Sequence[str], title: str = "") -> None:
    """Print a table that fits the width of the console."""
    names = [shortened(line.name, int(NAMES * console.width)) for line in lines]
    numbers = [line.numbers for line in lines if line.numbers]
    room = console.width - max(map(cell_len, (corner, *names))) - BETWEEN
    for lines_of_heads in ([[head] for head in heads], [broken(head) for head in heads]):
        widths = {
            place: max(map(cell_len, ("", *words, *(row[place].plain for row in numbers))))
            for place, words in enumerate(lines_of_heads)
        }
        if sum(widths.values()) + BETWEEN * len(widths) <= room:  # heads are broken only for lack of room
            break
    for number, places in enumerate(_fitting(widths, room)):
        heading = title if number == 0 else "(further columns)"
        if heading:
            console.print(heading, style="bold", highlight=False, markup=False, soft_wrap=True)
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 1), pad_edge=False)
        table.add_column(Text(corner), no_wrap=True)
        for place in places:
            table.add_column(Text("\n".join(lines_of_heads[place])), justify="right", no_wrap=True)
        for name, line in zip(names, lines, strict=True):
            cells = [line.numbers[place] for place in places] if line.numbers else []
            table.add_row(Text(name), *cells, style=line.style or None, end_section=line.ends)
        console.print(table)


def hanging(line: str, *, indent: int) -> str:
    """Break a line at the width of the terminal, below its explanation; in files and pipes it stays whole."""
    console = Console()
    if not console.is_terminal or cell_len(line) <= console.width:
        return line
    broken = textwrap.wrap(line, console.width, subsequent_indent=" " * indent, break_on_hyphens=False)
    return "\n".join(broken)


def shortened(name: str, width: int) -> str:
    """Replace the middle of a name that is wider than the terminal has room for.

    >>> shortened("ar /home/me/treebanks/ar_padt-ud-test.conllu", 30), shortened("日本語の長いコーパス名前", 12)
    ('ar /home/…_padt-ud-test.conllu', '日…パス名前')

    Args:
        name: a name; letters of East Asian scripts are two cells wide.
    """
    if cell_len(name) <= width:
        return name
    head = _first(name, (width - 1) // 3)
    tail = _first(name[::-1], width - 1 - cell_len(head))[::-1]
    while tail and unicodedata.combining(tail[0]):  # a mark without its letter
        tail = tail[1:]
    return f"{head}…{tail}"


def _first(name: str, width: int) -> str:
    end, used = 0, 0
    for letter in name:
        used += cell_len(letter)
        if used > width:
            break
        end += 1
    return name[:end]


def _fitting(widths: Mapping[int, int], room: int) -> Iterator[list[int]]:
    """Yield the places of the columns in groups that fit the width, at least one per group."""
    group: list[int] = []
    used = 0
    for place, width in widths.items():
        if group and used + width + BETWEEN > room:
            yield group
            group, used = [], 0
        group.append(place)
        used += width + BETWEEN
    yield group
