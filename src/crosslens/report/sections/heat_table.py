"""Section with a printed table, its differences coloured."""

from typing import Any

from crosslens.report.sections.section import Section, rounded
from crosslens.report.table import DECIMALS, Cell, Table
from crosslens.tasks.titles import as_printed


def heat_table(table: Table, title: str, *, corner: str = "language", one_by_one: bool = False) -> Section:
    """Show a printed table on the page.

    Args:
        table: rows in groups; rows about a language follow the page's filters and choice of languages.
        title: heading of the section.
        corner: head of the column of labels.
        one_by_one: show one group at a time, which the reader chooses.
    """
    panels = [
        {
            "title": as_printed(group),
            "rows": [
                {"name": row.label, "language": row.language, "cells": [_cell(cell) for cell in row.cells]}
                for row in rows
            ],
        }
        for group, rows in table.groups.items()
    ]
    views = [panel["title"] for panel in panels] if one_by_one else []
    about = {"head": table.full_heads, "notes": table.notes, "corner": corner, "views": views}
    return Section(table.name, title, table.caption, "heat", panels, about)


def _cell(cell: Cell) -> dict[str, Any]:
    shown = {"value": rounded(cell.value, DECIMALS), "level": cell.level, "note": cell.note}
    marks = {"difference": cell.kind in ("difference", "vs_paper"), "share": cell.kind == "similarity"}
    return {name: value for name, value in shown.items() if value is not None} | {
        name: True for name, holds in marks.items() if holds
    }
