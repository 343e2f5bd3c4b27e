"""Attention heads ablated one at a time: what each costs the source language and other languages."""

from dataclasses import dataclass

from crosslens.encoders.states.address import Address
from crosslens.report.conditions.comparison import Comparison
from crosslens.report.conditions.interventions import changed_after_training, treated
from crosslens.report.significance import Significance
from crosslens.report.table import Notes, Row, Table
from crosslens.results.cells import Column
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
        for name, keys in effect.block.parts():
            groups[f"{effect.title}: {name}"] = tuple(
                effect.block.row(f"layer {layer}", keys, columns, notes, significance)
                for layer in sorted({layer for layer, _ in effect.columns})
                for columns in [[effect.columns.get((layer, head)) for head in numbers]]
            )
    return [Table("heads", CAPTION, tuple(map(str, numbers)), groups, tuple(notes.texts))]
