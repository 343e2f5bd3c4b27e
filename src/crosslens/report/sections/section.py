"""A section of the page, as HTML without its charts and as values for the page's script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

Form = Literal["curves", "scatter", "heat"]
"""Small charts with lines, scatter plots of languages, or a table with coloured cells."""


@dataclass(frozen=True, slots=True)
class Section:
    """Charts of one kind.

    Attributes:
        name: its id on the page and in the page's script.
        note: what is shown and how to read it.
        panels: one chart each; of a table, one group of rows each.
        about: what all charts have in common, such as the title of an axis.
    """

    name: str
    title: str
    note: str
    form: Form
    panels: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]

    def values(self) -> dict[str, Any]:
        """Plain values for the page's script."""
        return {"name": self.name, "form": self.form, "panels": list(self.panels), **self.about}

    def html(self) -> str:
        """The section without charts, hidden until the page's script fills it."""
        title, name = escape(self.title), escape(self.name)
        notes = "".join(f"<li>{escape(text)}</li>" for text in self.about.get("notes", ()))
        table = f'<div class="wide" tabindex="0" role="region" aria-label="{title}, values"><table></table></div>'
        choice = '<div class="controls" hidden><label>show<select></select></label></div>'
        forms = {
            "curves": f'{choice}<ul class="key"></ul><div class="charts"></div>'
            f"<details><summary>Show values</summary>{table}</details>",
            "scatter": '<div class="columns"></div>',
            "heat": choice
            + table.replace('class="wide"', 'class="wide tall"').replace(", values", "")
            + (f'<ol class="note">{notes}</ol>' if notes else ""),
        }
        return (
            f'<section id="{name}" class="{self.form}" hidden><h2>{title}</h2><p class="note">{escape(self.note)}</p>'
            f"{forms[self.form]}</section>"
        )


def rounded(value: float | None, digits: int) -> float | None:
    """A number with as many decimals as the page shows; None stays."""
    return None if value is None else round(value, digits)
