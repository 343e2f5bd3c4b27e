"""All sections of the page below scores and similarity, in the order in which they stand."""

from collections.abc import Sequence
from contextlib import suppress

from crosslens.errors import RequestError
from crosslens.report.blocks import Block
from crosslens.report.conditions.interventions import before_training
from crosslens.report.layers.layer_by_layer import layer_by_layer
from crosslens.report.sections.amount_curves import amount_curves
from crosslens.report.sections.heat_table import heat_table
from crosslens.report.sections.layer_curves import layer_curves
from crosslens.report.sections.overlap_scatter import overlap_scatter
from crosslens.report.sections.section import Section
from crosslens.report.sections.treatment_profiles import treatment_profiles
from crosslens.report.table import Table
from crosslens.results.record import Results
from crosslens.tasks.titles import metric_name


def all_sections(results: Results, blocks: Sequence[Block], *, typology: Table | None = None) -> list[Section]:
    """Make a section for everything that the results hold, and none for what they do not hold.

    Args:
        results: sorted results, of the last checkpoint of each encoder.
        blocks: tables of scores on the page, in their order.
        typology: from `crosslens.report.typology.typology_table`.
    """
    unchanged = before_training(results)
    tasks = [block.task for block in blocks]
    return [
        *_layers_of_two_encoders(unchanged),
        *treatment_profiles(results, blocks),
        *amount_curves(unchanged, tasks),
        *overlap_scatter(results, blocks),
        *layer_curves(unchanged, tasks),
        *([] if typology is None else [heat_table(typology, "Easy, intermediate and hard languages")]),
    ]


def _layers_of_two_encoders(results: Results) -> list[Section]:
    tables: dict[str, Table] = {}
    with suppress(RequestError):  # records that contradict one another, which the tables report
        tables = layer_by_layer(results)
    sections = []
    for measure, table in tables.items():
        title = f"Layer by layer, {metric_name(measure)}"
        sections.append(heat_table(table, title, corner="layers", one_by_one=True))
    return sections
