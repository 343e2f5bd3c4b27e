"""What a printed table is made of: numbers with their notes, rows, and a paper's numbers below ours."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from crosslens.report.papers import Paper, Printed
from crosslens.report.significance import Interval
from crosslens.results import cells

Kind = Literal["score", "difference", "beyond", "coefficient"]
"""A score in points; a difference to the reference; ours minus a paper's; a coefficient of -1 to 1."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table.

    Attributes:
        value: None where there is none.
        kind: what kind of number.
        std: its standard deviation over seeds (ddof 1); None where there is one seed.
        note: a number of the table's notes; None where there is none.
        interval: its confidence interval and test, from the study that it belongs to; None where there is none.
    """

    value: float | None
    kind: Kind
    std: float | None = None
    note: int | None = None
    interval: Interval | None = None

    @property
    def level(self) -> str | None:
        """The colour of a difference, by the thresholds of Muller et al. (2021, Table 1)."""
        if self.kind != "difference" or self.value is None:
            return None
        return "above" if self.value >= 0 else "below" if self.value > -2 else "two" if self.value > -5 else "five"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table.

    Attributes:
        label: what it is of.
        cells: one a column.
        kind: ``plain``; ``mean`` of the rows above; ``beside``: a paper's numbers, or what is compared with them.
    """

    label: str
    cells: tuple[Cell, ...]
    kind: Literal["plain", "mean", "beside"] = "plain"


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a paper has it.

    Attributes:
        name: of its files.
        caption: what it shows.
        head: of the columns behind the labels.
        groups: title of a group of rows -> its rows.
        notes: what cells refer to, counted from 1.
    """

    name: str
    caption: str
    head: tuple[str, ...]
    groups: Mapping[str, tuple[Row, ...]]
    notes: tuple[str, ...] = field(default=())


@dataclass(slots=True)
class Notes:
    """The notes of a table that is being made."""

    texts: list[str] = field(default_factory=list)

    def number(self, text: str | None) -> int | None:
        """The number of a note, which is added where it is new; None of no note."""
        if not text:
            return None
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1


def cell_of(cell: cells.Cell, kind: Kind, notes: Notes, interval: Interval | None = None) -> Cell:
    """A mean over seeds as it is printed; a note says which seeds are left out."""
    left_out = f"seeds left out because they lack a score to compare with or average: {cell.left_out}"
    return Cell(cell.mean, kind, cell.std, notes.number(left_out if cell.left_out else None), interval)


def difference(ours: float | None, theirs: float | None) -> Cell:
    """Ours minus theirs; none where one of them is absent."""
    return Cell(None if ours is None or theirs is None else ours - theirs, "beyond")


def rows_beside(
    paper: Paper, ours: Sequence[Cell], printed: Sequence[Printed | None], notes: Notes, over: str = ""
) -> Iterator[Row]:
    """The paper's numbers and the differences to them; nothing where it prints none.

    Args:
        paper: whose numbers.
        ours: one a column.
        printed: theirs.
        notes: of the table.
        over: what both are means over, where the row above does not say it.
    """
    theirs = [
        Cell(None, cell.kind) if number is None else Cell(number.value, cell.kind, note=notes.number(number.note))
        for cell, number in zip(ours, printed, strict=True)
    ]
    if any(cell.value is not None for cell in theirs):
        differences = [difference(a.value, b.value) for a, b in zip(ours, theirs, strict=True)]
        yield Row(f"{paper.name}{over}", tuple(theirs), "beside")
        yield Row(f"ours − theirs{over}", tuple(differences), "beside")


def caption_beside(paper: Paper | None, groups: Mapping[str, Sequence[Row]]) -> str:
    """What a caption says of a paper's numbers, where there are any in the rows."""
    if paper is None or not any(row.kind == "beside" for rows in groups.values() for row in rows):
        return ""
    return f" Below ours: {paper.name} as published, and ours minus it; means are over the languages that both have."
