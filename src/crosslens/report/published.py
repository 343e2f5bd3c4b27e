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

PAPERS = {
    "muller2021": ("muller2021_tables_6_7_8.csv", "muller2021_table_2.csv", "muller2021_table_1.csv"),
    "wu2019": (),
    "conneau2020": (),
}
"""Paper -> its tables of scores and differences; of a number that two of them print, the first counts."""

SCORES = {"muller2021": "muller2021_table_5.csv"}
"""Paper -> its table of scores by layers drawn anew."""

CORRELATIONS = {"muller2021": "muller2021_table_4.csv"}
"""Paper -> its table of correlations of gap and similarity."""

SUPERVISION = {"wu2019": "wu2019_tables_2_to_6.csv"}
"""Paper -> its tables of scores by what a model was trained on."""

FACTORS = {"conneau2020": "conneau2020_table_1.csv"}
"""Paper -> its table of scores by what was another way in pretraining."""

CALLED = {
    "Default": "reference", "Wiki-CC": "wiki-cc", "Default anchors": "default-anchors", "No anchors": "no-anchors",
    "Extra anchors": "extra-anchors", "Sep Emb": "sep-emb", "Sep Emb + L1-3": "sep-emb-1-3",
    "Sep Emb + L1-6": "sep-emb-1-6", "Sep L1-3": "sep-1-3", "Sep L1-6": "sep-1-6",
}  # fmt: skip
"""Conneau, Wu et al.'s models -> what studies call them."""

OTHERS = "x"
"""The target that stands for the mean of the other languages."""


DATA = {
    "document": "MLDoc", "nli": "MultiNLI, XNLI test", "ner": "CoNLL 2002 and 2003", "pos": "UD 1.4",
    "parsing": "UD 2.2, without PUNCT and SYM",
}  # fmt: skip
"""Task -> the data of Wu & Dredze's tables."""


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

    def score(self, task: str, source: str, target: str, split: str | None, condition: str) -> Printed | None:
        """A score that its table of scores prints; ``condition`` as in `find`."""
        return self._scores.get((task, source, target, split or "test", condition))

    def correlation(self, task: str, state: str) -> Printed | None:
        """Spearman's correlation of gap and CKA over languages, negative where likeness goes with transfer."""
        return self._correlations.get((task, state))

    def supervised(self, task: str, metric: str, setting: str) -> dict[str, Printed]:
        """Target -> score of models trained in a ``setting``: ``in-language``, ``zero-shot``, …"""
        return {
            target: printed for (*key, target), printed in self._supervision.items() if key == [task, metric, setting]
        }

    def data(self, task: str) -> str:
        """The data behind `supervised`."""
        return DATA[task]

    @cached_property
    def _scores(self) -> dict[tuple[str, ...], Printed]:
        return {
            (row["task"], row["source"], row["target"], row["split"], row["layers"] or "reference"): _printed(row)
            for row in _rows(SCORES.get(self.name))
        }

    @cached_property
    def _correlations(self) -> dict[tuple[str, str], Printed]:
        # The paper prints them with the other sign than its own definition of the gap gives.
        rows = _rows(CORRELATIONS.get(self.name))
        return {(row["task"], row["model"]): Printed(-row["value"], row["table"], "") for row in rows}

    @cached_property
    def _supervision(self) -> dict[tuple[str, ...], Printed]:
        found = {}
        for row in _rows(SUPERVISION.get(self.name)):
            target, _, over = row["target"].partition("(")
            note = f"the mean over {over.rstrip(')')}" if over else ""
            key = (row["task"], row["metric"], row["setting"], target)
            found[key] = Printed(row["value"], str(row["table"]), note)
        return found

    @cached_property
    def _sources(self) -> set[str]:
        return {source for _, source, _, _ in self._cells}

    @cached_property
    def _cells(self) -> dict[tuple[str, str, str, str], Printed]:
        cells: dict[tuple[str, str, str, str], Printed] = {}
        for file in PAPERS[self.name]:
            for row in _rows(file):
                key = (row["task"], row["source"], row["target"], row["layers"] or "reference")
                cells.setdefault(key, _printed(row))
        # Scores; what stands beside a difference is the difference to the paper's own default.
        factors = {(row["task"], row["setting"], row["target"]): row for row in _rows(FACTORS.get(self.name))}
        for (task, setting, target), row in factors.items():
            default = 0.0 if setting == "Default" else factors[task, "Default", target]["value"]
            its = Printed(round(row["value"] - default, 2), str(row["table"]), "")
            cells[task, "en", OTHERS if target == "mean" else target, CALLED[setting]] = its
        return cells


def _rows(file: str | None) -> list[dict]:
    """The rows of a table that have a number."""
    rows = read_published(file).to_dict("records") if file else []
    return [row for row in rows if row["value"] == row["value"]]


def _printed(row: dict) -> Printed:
    return Printed(row["value"], str(row["table"]), row.get("note", ""))


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
