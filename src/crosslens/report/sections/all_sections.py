"""All sections of the page below scores and similarity, in the order in which they stand."""

from collections.abc import Sequence

from crosslens.report.blocks import Block
from crosslens.report.conditions.interventions import before_training
from crosslens.report.conditions.pretraining_steps import last_checkpoints
from crosslens.report.sections.heat_table import heat_table
from crosslens.report.sections.layer_curves import layer_curves
from crosslens.report.sections.overlap_scatter import overlap_scatter
from crosslens.report.sections.section import Section
from crosslens.report.sections.treatment_profiles import treatment_profiles
from crosslens.report.table import Table
from crosslens.results.record import Results


def all_sections(results: Results, blocks: Sequence[Block], *, typology: Table | None = None) -> list[Section]:
    """Make a section for everything that the results hold, and none for what they do not hold.

    Args:
        results: sorted results.
        blocks: tables of scores on the page, in their order.
        typology: from `crosslens.report.typology.typology_table`.
    """
    last = last_checkpoints(results)
    unchanged = before_training(last)
    return [
        *treatment_profiles(last, blocks),
        *overlap_scatter(unchanged, blocks),
        *layer_curves(unchanged, [block.task for block in blocks]),
        *([] if typology is None else [heat_table(typology, "Easy, intermediate and hard languages")]),
    ]
