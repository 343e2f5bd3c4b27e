"""What a table is made of: numbers with their notes, rows, and a paper's numbers below ours."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from crosslens.report.published import Paper, Printed
from crosslens.report.tested import Finding

if TYPE_CHECKING:
    import pandas

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
        found: what the study's summary says of it; None where it says nothing.
    """

    value: float | None
    kind: Kind
    std: float | None = None
    note: int | None = None
    found: Finding | None = None

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
        kind: ``plain``; ``mean`` of the rows above; ``beside``: a paper's numbers, or ours minus them.
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


def cell_of(values: "pandas.Series | None", kind: Kind) -> Cell:
    """The mean over seeds, of the means over whatever else there is of a seed."""
    kept = [] if values is None else values.dropna()
    if not len(kept):
        return Cell(None, kind)
    by_seed = kept.groupby(level="seed").mean()
    return Cell(float(by_seed.mean()), kind, float(by_seed.std(ddof=1)) if len(by_seed) > 1 else None)


def short(head: Sequence[str]) -> tuple[str, ...]:
    """Heads of columns as they are printed."""
    return tuple("Ref" if column == "reference" else column.replace("Δ reference ", "Δ ") for column in head)


def said_beside(paper: Paper | None) -> str:
    """What a caption says of a paper's numbers."""
    return f" Below ours: {paper.name} as printed, and ours minus it." if paper else ""


def rows_beside(
    paper: Paper, ours: Sequence[Cell], printed_ones: Sequence[Printed | None], notes: list[str]
) -> Iterator[Row]:
    """The paper's numbers and the differences to them; nothing where it prints none."""
    theirs, differences = [], []
    for cell, printed in zip(ours, printed_ones, strict=True):
        if printed is None:
            theirs.append(Cell(None, cell.kind))
            differences.append(Cell(None, "beyond"))
            continue
        if printed.note and printed.note not in notes:
            notes.append(printed.note)
        theirs.append(Cell(printed.value, cell.kind, note=notes.index(printed.note) + 1 if printed.note else None))
        differences.append(Cell(None if cell.value is None else cell.value - printed.value, "beyond"))
    if any(cell.value is not None for cell in theirs):
        yield Row(paper.name, tuple(theirs), "beside")
        yield Row("ours − theirs", tuple(differences), "beside")
