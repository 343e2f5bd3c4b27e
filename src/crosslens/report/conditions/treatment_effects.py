"""What each treatment of layers costs the source language, other languages, and each target, by layer."""

from collections.abc import Mapping
from dataclasses import dataclass

from crosslens.report.conditions.comparison import Comparison
from crosslens.report.conditions.interventions import treated
from crosslens.results.cells import Cell, Key
from crosslens.results.pivot import mean_row


@dataclass(frozen=True, slots=True)
class TreatmentEffect:
    """Differences to the reference when one treatment is applied to several sets of layers.

    Attributes:
        treatment: what is done, such as ``zero`` or ``frozen``.
        addresses: sets of layers, or parts of them, in the order of tables.
        same: set of layers -> mean difference in the source language; empty without scores in it.
        cross: set of layers -> mean difference in other languages; empty without scores in them.
        by_target: corpus in another language -> set of layers -> difference.
    """

    treatment: str
    addresses: tuple[str, ...]
    same: Mapping[str, Cell]
    cross: Mapping[str, Cell]
    by_target: Mapping[Key, Mapping[str, Cell]]


def treatment_effects(block: Comparison) -> list[TreatmentEffect]:
    """Compute the effect of every treatment of layers, in the order of the registry of interventions.

    Args:
        block: scores of one task, source and encoder; effects on single attention heads are left out.
    """
    columns = treated(block)
    effects = []
    for treatment in dict.fromkeys(treatment for treatment, _ in columns):
        by_address = {address: column for (name, address), column in columns.items() if name == treatment}
        same, cross = (
            {address: mean_row(block.compared, keys, column) for address, column in by_address.items()} if keys else {}
            for keys in (block.same, block.cross)
        )
        by_target = {
            key: {address: block.compared.get(key, column) for address, column in by_address.items()}
            for key in block.cross
        }
        effects.append(TreatmentEffect(treatment, tuple(by_address), same, cross, by_target))
    return effects
