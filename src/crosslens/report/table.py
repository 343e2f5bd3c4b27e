"""Printed tables: numbers with notes, rows, and published scores below ours."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from crosslens.report.papers import Paper, Printed
from crosslens.report.significance import Interval
from crosslens.results import cells
from crosslens.scores.intervals import Sample

Kind = Literal["score", "difference", "vs_paper", "coefficient", "similarity", "slope", "step", "lag"]
"""A score in points; a difference to the reference; ours minus a published score; a coefficient from -1 to 1; a
similarity, mostly from 0 to 1; a slope, which is neither loss nor gain; a step of pretraining, or a difference of two
such steps."""


DECIMALS = 2
"""Decimals of scores and differences."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A number in a table.

    Attributes:
        value: The number; None if missing.
        std: Standard deviation over seeds (ddof 1); None for a single seed.
        note: Number of a note of the table, from 1; None without a note.
        interval: Confidence interval and test from a finished study; None if there is none.
    """

    value: float | None
    kind: Kind
    std: float | None = None
    note: int | None = None
    interval: Interval | None = None

    @property
    def level(self) -> str | None:
        """The colour of a difference as it is written, by the thresholds of Muller et al. (2021, Table 1)."""
        if self.kind != "difference" or self.value is None:
            return None
        value = round(self.value, DECIMALS)
        return "above" if value >= 0 else "below" if value > -2 else "two" if value > -5 else "five"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table.

    Attributes:
        label: Label in the first column.
        cells: One cell per column.
        kind: ``plain``; ``mean`` of the rows above; ``beside``: published scores, or numbers compared with them.
        language: Tag of the language that the row is about; None for other rows.
    """

    label: str
    cells: tuple[Cell, ...]
    kind: Literal["plain", "mean", "beside"] = "plain"
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to be printed.

    Attributes:
        name: Base name of its files.
        head: Column heads, without the column of labels.
        groups: Title of a group of rows -> its rows.
        notes: Notes that cells refer to, counted from 1.
        panels: Title of a group of columns -> the number of its columns, from left to right; empty without titles.
    """

    name: str
    caption: str
    head: tuple[str, ...]
    groups: Mapping[str, tuple[Row, ...]]
    notes: tuple[str, ...] = field(default=())
    panels: Mapping[str, int] = field(default_factory=dict)

    @property
    def cells(self) -> Iterator[Cell]:
        """All cells, row by row."""
        return (cell for rows in self.groups.values() for row in rows for cell in row.cells)

    @property
    def full_heads(self) -> tuple[str, ...]:
        """Column heads where panels have no row of their own: with the title of their panel before them."""
        titles = [f"{title}: " for title, size in self.panels.items() for _ in range(size)] or [""] * len(self.head)
        return tuple(title + head for title, head in zip(titles, self.head, strict=True))


@dataclass(slots=True)
class Notes:
    """Collected notes of a table under construction."""

    texts: list[str] = field(default_factory=list)

    def number(self, text: str | None) -> int | None:
        """The number of a note, added if new; None without a text."""
        if not text:
            return None
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1


def cell_of(
    cell: cells.Cell,
    kind: Kind,
    notes: Notes,
    interval: Interval | None = None,
    *,
    note: str | None = None,
    most: int = 0,
) -> Cell:
    """A mean over seeds as a printed cell, with a note on seeds that are excluded or lacking behind any other one.

    Args:
        most: number of seeds of the cells that it stands beside, from `crosslens.results.cells.most_seeds`.
    """
    seeds = len(cell.by_seed)
    text = None
    if cell.excluded:
        text = f"number of seeds excluded for lack of a score to compare with or average: {len(cell.excluded)}"
    elif 0 < seeds < most and None not in cell.by_seed:
        text = f"over fewer seeds: {seeds} of {most}"
    return Cell(cell.mean, kind, cell.std, notes.number("; ".join(filter(None, (note, text)))), interval)


def over_seeds(cell: cells.Cell, kind: Kind, notes: Notes, *, most: int = 0) -> Cell:
    """A mean over seeds as `cell_of` prints it, with its 95 % interval over seeds if there are several."""
    interval = None
    if len(cell.by_seed) > 1:
        estimate = Sample(np.asarray(list(cell.by_seed.values()), np.float64), 0.0, 2).estimate()
        interval = Interval(estimate.low, estimate.high, False, "seeds")
    return cell_of(cell, kind, notes, interval, most=most)


def difference(ours: float | None, theirs: float | None) -> Cell:
    """Ours minus theirs; an empty cell if either is missing."""
    return Cell(None if ours is None or theirs is None else ours - theirs, "vs_paper")


def published_cell(number: Printed | None, kind: Kind, notes: Notes) -> Cell:
    """A published number as a cell, with its note; an empty cell if there is none."""
    return Cell(None, kind) if number is None else Cell(number.value, kind, note=notes.number(number.note))


def published_rows(
    paper: Paper, ours: Sequence[Cell], printed: Sequence[Printed | None], notes: Notes, over: str = ""
) -> Iterator[Row]:
    """Published scores and the differences to them, as rows below ours; none if nothing is published.

    Args:
        over: Suffix of the labels that names what is averaged, if it differs from the row above.
    """
    published = [published_cell(number, cell.kind, notes) for cell, number in zip(ours, printed, strict=True)]
    if any(cell.value is not None for cell in published):
        differences = [difference(a.value, b.value) for a, b in zip(ours, published, strict=True)]
        yield Row(f"{paper.name}{over}", tuple(published), "beside")
        yield Row(f"ours − theirs{over}", tuple(differences), "beside")


def published_caption(paper: Paper | None, groups: Mapping[str, Sequence[Row]]) -> str:
    """The sentence of a caption on published scores; empty if no row shows any."""
    if paper is None or not any(row.kind == "beside" for rows in groups.values() for row in rows):
        return ""
    return f" Below ours: {paper.name} as published, and ours minus published; means are over the languages in both."
