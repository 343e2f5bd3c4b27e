"""Section with layer profiles of freezing and of interventions on trained models."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from crosslens.errors import RequestError
from crosslens.report.blocks import Block
from crosslens.report.conditions.comparison import Comparison, comparisons
from crosslens.report.conditions.treatment_effects import TreatmentEffect, treatment_effects
from crosslens.report.sections.section import Section
from crosslens.results.cells import EMPTY, Cell, encoders_apart
from crosslens.results.layer_profile import SAME, ZERO_SHOT
from crosslens.results.record import Results

RE_INITIALISED = "re-initialised"
"""The treatment of the layer profile at the top of the page."""

NOTE = (
    "Change in score by treated layers: before fine-tuning (re-initialised, frozen), or in the fine-tuned model without"
    " training it again. Bars: lowest and highest of several seeds. Each chart has a scale of its own."
)


def treatment_profiles(results: Results, blocks: Sequence[Block]) -> list[Section]:
    """Make a chart for each treatment of layers, where there is another treatment than re-initialising.

    Args:
        blocks: tables of scores on the page, in their order; charts show with the table of their scores.
    """
    panels: list[dict[str, Any]] = []
    with suppress(RequestError):  # records that contradict one another, which the tables report
        for block in comparisons(encoders_apart(results)):
            tables = [place for place, table in enumerate(blocks) if _is_table_of(table, block)]
            for compared in block.by_variant():
                effects = treatment_effects(compared)
                if any(effect.treatment != RE_INITIALISED for effect in effects):
                    panels += [_panel(effect, compared, tables) for effect in effects]
    about = {
        "axis": "change, points",
        "across": "treated layers (0: embeddings)",
        "each": "layers",
        "alone": True,
        "views": [],
    }
    kinds = {"kinds": [SAME, ZERO_SHOT], "styles": [0, 0]}
    return (
        [Section("interventions", "Freezing and interventions", NOTE, "curves", panels, about | kinds)]
        if panels
        else []
    )


def _is_table_of(block: Block, compared: Comparison) -> bool:
    same = (block.task, block.source, block.encoder) == (compared.task, compared.source, compared.encoder)
    kinds = (each.columns.together("split", "translated_from").values for each in (block.results, compared.records))
    return same and next(kinds) == next(kinds)


def _panel(effect: TreatmentEffect, compared: Comparison, tables: Sequence[int]) -> dict[str, Any]:
    means = ((SAME, "same", effect.same), (ZERO_SHOT, "cross", effect.cross))
    lines = [
        {"name": compared.name(key), "language": key[0], "mark": "target", "values": _means(by_address, effect)}
        for key, by_address in effect.by_target.items()
    ]
    for name, mark, by_address in means:
        if by_address:
            seeds = [list(by_address[address].by_seed.values()) for address in effect.addresses]
            lines.append(
                {
                    "name": name,
                    "mark": mark,
                    "values": _means(by_address, effect),
                    "low": [min(values, default=None) for values in seeds],
                    "high": [max(values, default=None) for values in seeds],
                }
            )
    return {
        "title": ", ".join(filter(None, (effect.treatment, compared.label))),
        "view": "",
        "tables": list(tables),
        "language": None,
        "labels": list(effect.addresses),
        "joined": [False, *(_joined(*pair) for pair in zip(effect.addresses, effect.addresses[1:], strict=False))],
        "lines": lines,
    }


def _means(by_address: "Mapping[str, Cell]", effect: TreatmentEffect) -> list[float | None]:
    return [by_address.get(address, EMPTY).mean for address in effect.addresses]


def _joined(before: str, address: str) -> bool:
    """Whether a line joins two sets of layers: those of one size, and sets that grow from the same lowest layer."""
    one, other = (_ends(each) for each in (before, address))
    if one is None or other is None or one[0] != other[0]:
        return False
    return one[2] - one[1] == other[2] - other[1] or one[1] == other[1]


def _ends(address: str) -> tuple[str, int, int] | None:
    """What is treated, such as ``attention``, and the first and last layer; None for ``all`` and scattered layers."""
    read = re.fullmatch(r"(\d+)(?:-(\d+))?((?:\.[a-z_]+)*)", address)
    return (read[3], int(read[1]), int(read[2] or read[1])) if read else None
