"""Attention heads ablated one at a time: what each costs the source language and other languages."""

from collections.abc import Iterator
from dataclasses import dataclass

from crosslens.encoders.states.address import Address
from crosslens.report.conditions.comparison import Comparison
from crosslens.report.conditions.interventions import changed_after_training, treated
from crosslens.report.significance import Significance
from crosslens.report.table import Notes, Row, Table, cell_of
from crosslens.results import cells
from crosslens.results.cells import Cell, Column
from crosslens.results.pivot import mean_row
from crosslens.results.record import Results

CAPTION = (
    "Differences (Δ) to the reference when one attention head of the fine-tuned model is ablated, without training it"
    " again. Rows are layers, columns heads."
)


@dataclass(frozen=True)
class HeadEffects:
    """Scores of models in which one head at a time is ablated.

    Attributes:
        block: the scores, and differences to the reference.
        treatment: what is done to the head, such as ``zero``.
        columns: layer and head -> column of the scores.
    """

    block: Comparison
    treatment: str
    columns: dict[tuple[int, int], Column]

    @property
    def title(self) -> str:
        """Task, metric, source and treatment."""
        return f"{self.block.heading}, {self.treatment}"

    def parts(self) -> Iterator[tuple[str, list]]:
        """Yield the name and the rows of the source language, and of the other languages."""
        for name, keys in (("same language", self.block.same), ("zero-shot", self.block.cross)):
            if keys:
                yield name + (f", mean of {self.block.over(keys)}" if len(keys) > 1 else ""), list(keys)

    def difference(self, keys: list, layer: int, head: int) -> Cell:
        """Mean difference to the reference over rows."""
        column = self.columns.get((layer, head))
        return cells.EMPTY if column is None else mean_row(self.block.compared, keys, column)


def head_effects(results: Results) -> list[HeadEffects]:
    """Find the scores of models in which single heads were ablated."""
    effects: list[HeadEffects] = []
    for block in changed_after_training(results):
        by_treatment: dict[str, dict[tuple[int, int], Column]] = {}
        for (treatment, address), column in treated(block, heads="only").items():
            parsed = Address.parse(address)
            by_treatment.setdefault(treatment, {})[int(parsed.layers), int(parsed.units or 0)] = column
        effects += (HeadEffects(block, treatment, columns) for treatment, columns in by_treatment.items())
    return effects


def heads(results: Results, *, significance: Significance | None = None) -> list[Table]:
    """Tabulate the effect of each ablated head: one row per layer, one column per head.

    Returns:
        One table, or none where no single head was ablated.
    """
    effects = head_effects(results)
    if not effects:
        return []
    numbers = sorted({head for effect in effects for _, head in effect.columns})
    groups: dict[str, tuple[Row, ...]] = {}
    notes = Notes()
    for effect in effects:
        for name, keys in effect.parts():
            groups[f"{effect.title}: {name}"] = tuple(
                Row(
                    f"layer {layer}",
                    tuple(
                        cell_of(
                            effect.difference(keys, layer, head),
                            "difference",
                            notes,
                            effect.block.interval(significance, keys, effect.columns[layer, head])
                            if (layer, head) in effect.columns
                            else None,
                        )
                        for head in numbers
                    ),
                )
                for layer in sorted({layer for layer, _ in effect.columns})
            )
    return [Table("heads", CAPTION, tuple(map(str, numbers)), groups, tuple(notes.texts))]
