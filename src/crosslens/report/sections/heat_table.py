"""Section with a printed table, its differences coloured."""

from typing import Any

from crosslens.report.sections.section import Section, rounded
from crosslens.report.table import Cell, Table
from crosslens.tasks.titles import as_printed


def heat_table(table: Table, title: str) -> Section:
    """Show a printed table on the page.

    Args:
        table: rows in groups; rows about a language follow the page's filters and choice of languages.
        title: heading of the section.
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
    about = {"head": table.full_heads, "notes": table.notes}
    return Section(table.name, title, table.caption, "heat", panels, about)


def _cell(cell: Cell) -> dict[str, Any]:
    shown = {"value": rounded(cell.value), "level": cell.level, "note": cell.note}
    return {name: value for name, value in shown.items() if value is not None} | {
        "difference": cell.kind in ("difference", "vs_paper")
    }
