"""Tables as text: LaTeX, Markdown, CSV."""

import csv
import re
from collections.abc import Callable, Sequence
from io import StringIO
from itertools import accumulate, chain
from typing import Literal

from crosslens.formatting import MINUS, broken, one_line, plain, signed
from crosslens.latex import escape, needed_commands
from crosslens.report.table import Cell, Row, Table
from crosslens.scores.intervals import LEVEL

COLOURS = {"above": "DCEBFA", "below": "FDF3E3", "two": "F9D9A6", "five": "F0A860"}
"""Level of a difference -> its colour: blue for no loss, orange that darkens with the loss, also in grey."""

LEVELS = {
    "above": "no loss",
    "below": "loss under 2 points",
    "two": "loss of at least 2 points",
    "five": "loss of at least 5 points",
}
"""Level of a difference -> its entry in the legend."""

PACKAGES = ("{booktabs}", "{longtable}", "{graphicx}", "{xcolor}", "{colortbl}", "{siunitx}", "{fix-cm}")
"""What LaTeX needs; without options, so that none clashes with the packages of a journal's style."""

LONG, WIDE = 30, 4
"""Rows beyond which a LaTeX table runs over pages, and columns beyond which it is set across both columns of a page."""

Spread = Literal["none", "std", "interval"]
"""What stands behind a number: nothing, ``± std`` over seeds, or a mark and its confidence interval."""


def number(cell: Cell, *, spread: Spread = "none") -> str:
    """Format a cell: differences with sign, a dash for a missing number."""
    if cell.value is None:
        return "–"
    write = plain if cell.kind in ("score", "similarity", "step") else signed
    text = write(cell.value, decimals=2)
    if spread == "std" and cell.std is not None:
        return f"{text} ± {cell.std:.2f}"
    if spread == "interval" and cell.interval is not None:
        low, high = (write(end, decimals=2) for end in (cell.interval.low, cell.interval.high))
        return f"{text}{'*' if cell.interval.marked else ''} [{low}, {high}]"
    return text


def marks(table: Table, spread: Spread) -> str:
    """Sentence of a caption on intervals and marks; "" without any."""
    if spread == "std":
        return " ±: standard deviation over seeds." if any(cell.std is not None for cell in table.cells) else ""
    if spread != "interval":
        return ""
    over = {cell.interval.over for cell in table.cells if cell.interval}
    tested = {cell.interval.over for cell in table.cells if cell.interval and cell.kind == "difference"}
    caption = f" Confidence intervals (95 %) are over {', or over '.join(sorted(over))}" if over else ""
    if "sentences" in over:
        caption += " for single seeds, which are not tested"
    if "seeds and sentences" in tested:
        caption += f"; * marks differences that are significant after Benjamini-Hochberg correction (q < {LEVEL})"
    return caption and f"{caption}."


def to_latex(table: Table, *, spread: Spread = "none") -> str:
    """Write a table as LaTeX, with booktabs rules, coloured cells and numbers aligned at the decimal point (siunitx).

    Needs the packages that its first line names; `latex_document` brings them. In a document of two columns, such as
    those of ACL and IEEE, wide tables stand across both, and a table of more than a page has pages of one column.
    """

    def write(cell: Cell) -> str:
        colour = rf"\cellcolor{{crosslens{cell.level}}}" if cell.level else ""
        note = rf"\rlap{{$^{{{cell.note}}}$}}" if cell.note else ""
        if cell.value is None:
            return rf"{colour}{{--{note}}}"
        after = _after(cell, spread) + note
        return colour + number(cell).replace(MINUS, "-") + (f"{{{after}}}" if after else "")

    opening, closing = _shape(table, spread)
    heads = [*_panels(table), _row(["", *map(_head, table.head)])]
    titles = [rf"\multicolumn{{{len(table.head) + 1}}}{{l}}{{\textit{{{escape(title)}}}}} \\" for title in table.groups]
    groups = [[[_name(row), *map(write, row.cells)] for row in rows] for rows in table.groups.values()]
    lines = ["% needs " + "".join(rf"\usepackage{package}" for package in PACKAGES)]
    lines += [rf"\definecolor{{crosslens{level}}}{{HTML}}{{{colour}}}" for level, colour in COLOURS.items()]
    lines += [*opening, r"\toprule", *heads, r"\midrule"]
    lines += [r"\endhead"] if r"\end{longtable}" in closing else []
    for place, (title, rows) in enumerate(zip(titles, groups, strict=True)):
        lines += [r"\addlinespace"] if place else []
        lines += [title, *map(_row, rows)]
    legend = [
        rf"\colorbox{{crosslens{level}}}{{{LEVELS[level]}}}"
        for level in COLOURS
        if any(cell.level == level for cell in table.cells)
    ]
    notes = [rf"$^{{{place}}}$ {escape(note)}." for place, note in enumerate(table.notes, start=1)]
    caption = " ".join([escape(table.caption + marks(table, spread)), *legend, *notes])
    parts = {"CAPTION": rf"\caption{{{caption}}}\label{{tab:{table.name}}}"}
    if "WIDEST" in opening:
        widest = [max(chain(*groups), key=lambda row: len(row[place])) for place in range(len(table.head) + 1)]
        parts["WIDEST"] = "\n".join([*heads, max(titles, key=len), *dict.fromkeys(map(_row, widest))])
    text = "\n".join([*(parts.get(line, line) for line in [*lines, r"\bottomrule", *closing]), ""])
    first, rest = text.split("\n", 1)
    return "\n".join([first, *needed_commands(rest), rest])


def _after(cell: Cell, spread: Spread) -> str:
    """What stands behind the number of a cell."""
    return escape(number(cell, spread=spread).removeprefix(number(cell)))


def _name(row: Row) -> str:
    return _line({"mean": r"\textbf{%s}", "beside": r"\quad %s"}.get(row.kind, "%s") % escape(row.label))


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _head(head: str) -> str:
    """A head of a column of numbers, in several lines if it is long."""
    lines = [_line(escape(line)) for line in broken(head)]
    text = r"\\".join(lines)
    return rf"{{\begin{{tabular}}[b]{{@{{}}c@{{}}}}{text}\end{{tabular}}}}" if len(lines) > 1 else f"{{{text}}}"


def _line(text: str) -> str:
    """The beginning of a line: the line break above would read a bracket or a star as its argument."""
    return "{}" + text if text.startswith(("[", "*")) else text


def _panels(table: Table) -> list[str]:
    """The titles of groups of columns, each above a rule of its width."""
    ends = [1 + end for end in accumulate(table.panels.values())]
    titles = [rf"\multicolumn{{{size}}}{{c}}{{{escape(title)}}}" for title, size in table.panels.items()]
    rules = [rf"\cmidrule(lr){{{end - size + 1}-{end}}}" for end, size in zip(ends, table.panels.values(), strict=True)]
    return [_row(["", *titles]), "".join(rules)] if titles else []


def _shape(table: Table, spread: Spread) -> tuple[list[str], list[str]]:
    """Lines that open and close a table: longtable for many rows, across the page for many columns."""
    columns = "l" + "".join(_column(table, place, spread) for place in range(len(table.head)))
    if sum(map(len, table.groups.values())) > LONG:
        size = r"\scriptsize\setlength{\tabcolsep}{3pt}" if len(table.head) > 2 * WIDE else r"\small"
        width = r"\setlength{\LTcapwidth}{\linewidth}"
        return [
            ONE_COLUMN,
            rf"\begingroup{size}{width}",
            rf"\makeatletter\loop\sbox0{{\begin{{tabular}}{{{columns}}}",
            "WIDEST",
            rf"\end{{tabular}}}}{SMALLER}\repeat\makeatother",
            rf"\begin{{longtable}}{{{columns}}}",
        ], ["CAPTION", r"\end{longtable}", r"\endgroup\crosslenscolumns"]
    name = "table*" if len(table.head) > WIDE else "table"
    opening = [rf"\begin{{{name}}}", r"\centering\small", r"\sbox0{%", rf"\begin{{tabular}}{{{columns}}}"]
    fitted = r"}\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\par\smallskip"
    return opening, [r"\end{tabular}", fitted, "CAPTION", rf"\end{{{name}}}"]


ONE_COLUMN = (
    r"\makeatletter\if@twocolumn\onecolumn\def\crosslenscolumns{\twocolumn}\else\let\crosslenscolumns\relax\fi"
    r"\makeatother"
)
"""A longtable cannot stand in one of two columns."""

SMALLER = (
    r"\ifdim\ifdim\f@size pt>1pt\wd0\else0pt\fi>\linewidth\setlength{\tabcolsep}{.9\tabcolsep}"
    r"\fontsize{\the\dimexpr\f@size pt*9/10}{\the\dimexpr\f@baselineskip*9/10}\selectfont"
)
"""A longtable cannot be scaled: its letters shrink until the widest rows, in box 0, fit the page."""


def _column(table: Table, place: int, spread: Spread) -> str:
    """A column of numbers with room for the longest, and for the longest text behind a number."""
    cells = [row.cells[place] for rows in table.groups.values() for row in rows if row.cells[place].value is not None]
    texts = [number(cell).replace(MINUS, "-") for cell in cells] or ["0.00"]
    digits = max(len(text.lstrip("+-").partition(".")[0]) for text in texts)
    decimals = max(len(text.partition(".")[2]) for text in texts)
    sign = "+" if any(text[0] in "+-" for text in texts) else ""
    after = max((_after(cell, spread) for cell in cells), key=len, default="")
    room = f",table-space-text-post={{{after}}}" if after else ""
    return f"S[table-format={sign}{digits}.{decimals},retain-explicit-plus{room}]"


def latex_document(names: Sequence[str]) -> str:
    """Write a LaTeX document that inputs tables from their files."""
    packages = [*PACKAGES, "[margin=1.5cm,landscape]{geometry}"]
    lines = [r"\documentclass{article}", *(rf"\usepackage{package}" for package in packages), r"\begin{document}"]
    return "\n".join([*lines, *(rf"\input{{{name}}}" for name in names), r"\end{document}", ""])


def to_markdown(table: Table, *, spread: Spread = "none") -> str:
    """Write a table as Markdown; losses of five points and more are bold, and the caption says so."""

    def write(cell: Cell) -> str:
        text = number(cell, spread=spread).replace("*", r"\*")
        text = f"**{text}**" if cell.level == "five" else text
        return f"{text} [{cell.note}]" if cell.note else text

    heads = list(map(_bars, table.head))
    above = [text for title, size in table.panels.items() for text in [_bars(title), *[""] * (size - 1)]]
    losses = any(cell.level == "five" for cell in table.cells)
    bold = f" Bold: {LEVELS['five']}." if losses else ""
    lines = [
        one_line(table.caption) + marks(table, spread) + bold,
        "",
        "| " + " | ".join(["", *(above or heads)]) + " |",
    ]
    lines.append("|---|" + "--:|" * len(heads))
    lines += ["| " + " | ".join(["", *(f"*{head}*" for head in heads)]) + " |"] if above else []
    for title, rows in table.groups.items():
        lines.append("| *" + _bars(title) + "* |" + " |" * len(table.head))
        for row in rows:
            label = {"mean": "**%s**", "beside": "· %s"}.get(row.kind, "%s") % _bars(row.label)
            lines.append("| " + " | ".join([label, *map(write, row.cells)]) + " |")
    notes = [f"[{place}] {one_line(note)}." for place, note in enumerate(table.notes, start=1)]
    return "\n".join([*lines, "", *notes, ""]) if notes else "\n".join([*lines, ""])


def _bars(text: str) -> str:
    return re.sub(r"([|*_`<])", r"\\\1", one_line(text))


def to_csv(table: Table) -> str:
    """Write a table as CSV, with standard deviations over seeds in separate columns and notes in a last one.

    Names that begin as a formula does (``=``, ``+``, ``-``, ``@``) have an apostrophe before them: a spreadsheet would
    run them.
    """
    with_std = any(cell.std is not None for cell in table.cells)
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    heads = [_no_formula(head) for head in table.full_heads]
    of_notes = ["notes"] if any(cell.note for cell in table.cells) else []
    writer.writerow(["group", "row", *heads, *(f"{head} std" for head in heads if with_std), *of_notes])
    for title, rows in table.groups.items():
        for row in rows:
            writer.writerow(
                [
                    _no_formula(title),
                    _no_formula(row.label),
                    *_values(row, lambda cell: cell.value),
                    *(_values(row, lambda cell: cell.std) if with_std else []),
                    *(_notes(table, row) for _ in of_notes),
                ]
            )
    return stream.getvalue()


def _no_formula(name: str) -> str:
    name = one_line(name).lstrip()
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name


def _notes(table: Table, row: Row) -> str:
    """The notes of a row, each with the heads of the columns that it is about."""
    columns: dict[str, list[str]] = {}
    for head, cell in zip(table.full_heads, row.cells, strict=True):
        if cell.note:
            columns.setdefault(table.notes[cell.note - 1], []).append(one_line(head))
    return "; ".join(f"{', '.join(heads)}: {one_line(note)}" for note, heads in columns.items())


def _values(row: Row, of: Callable[[Cell], float | None]) -> list[str]:
    return ["" if (value := of(cell)) is None else repr(round(value, 6) + 0.0) for cell in row.cells]  # no -0.0
