"""The numbers that the papers print, as data, so that ours can stand beside them."""

# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from crosslens.errors import RequestError, suggest

if TYPE_CHECKING:
    import pandas

PAPERS = {"muller2021": ("muller2021_tables_6_7_8.csv", "muller2021_table_2.csv", "muller2021_table_1.csv")}
"""Paper -> its tables of scores and differences; of a number that two of them print, the first counts."""

OTHERS = "x"
"""The target that stands for the mean of the other languages."""


@dataclass(frozen=True, slots=True)
class Printed:
    """A number that a paper prints.

    Attributes:
        value: in points; of layers drawn anew, the difference to the reference.
        table: where it stands.
        note: what a reader must know of it; empty where nothing.
    """

    value: float
    table: str
    note: str


@dataclass(frozen=True)
class Paper:
    """The numbers of a paper."""

    name: str

    def find(self, task: str, source: Sequence[str], target: Sequence[str], condition: str) -> Printed | None:
        """What it prints for a score or a difference; None where it prints nothing.

        Args:
            task: its name.
            source: names of what was trained on, the narrowest first: ``en_partut``, ``en``. A corpus that the paper
                trains on by its own name is not taken for its language.
            target: names of what was evaluated on, the narrowest first; ``x``: the mean of the other languages.
            condition: the layers drawn anew, or ``reference``.
        """
        own = [name for name in source if name in self._sources][:1]
        keys = ((task, a, b, condition) for a in own for b in target)
        return next((self._cells[key] for key in keys if key in self._cells), None)

    @cached_property
    def _sources(self) -> set[str]:
        return {source for _, source, _, _ in self._cells}

    @cached_property
    def _cells(self) -> dict[tuple[str, str, str, str], Printed]:
        cells: dict[tuple[str, str, str, str], Printed] = {}
        for file in PAPERS[self.name]:
            for row in read_published(file).to_dict("records"):
                if row["value"] == row["value"]:
                    key = (row["task"], row["source"], row["target"], row["layers"] or "reference")
                    cells.setdefault(key, Printed(row["value"], str(row["table"]), row.get("note", "")))
        return cells


def find_paper(name: str) -> Paper:
    """A paper's numbers by its short name.

    Raises:
        RequestError: when there is none of that name.
    """
    if name not in PAPERS:
        raise RequestError(f"there are no numbers of {name!r}", hint=suggest(name, PAPERS))
    return Paper(name)


def read_published(file: str) -> "pandas.DataFrame":
    """A table as it was typed over; what is empty is ""."""
    import pandas as pd

    path = resources.files("crosslens.report") / "published" / file
    with path.open(encoding="utf-8") as stream:
        types = {"layers": str, "table": str}
        return pd.read_csv(stream, dtype=types, keep_default_na=False, na_values={"value": [""]})
