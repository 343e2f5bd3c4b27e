"""Fill the tables of docs/results with what `crosslens report` writes: python docs/make_results.py. A test checks them.

It also draws the README's figure from the same records.

A page marks a table by the arguments of the command, the table's name and, if only some of its groups are to be shown,
their titles:

    <!-- crosslens report pos.parquet --beside muller2021 > similarity-cka: mean of 18 pairs; en–fr -->
    (written here)
    <!-- end -->
"""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from crosslens.report.charts.figures import drawn, layer_profiles
from crosslens.report.papers import find_paper
from crosslens.report.render import to_markdown
from crosslens.report.table import Table
from crosslens.report.tables import all_tables
from crosslens.results.layer_profile import DARK, LIGHT, Ink
from crosslens.results.record import concatenated, read_results

ENDINGS = {"": LIGHT, "-dark": DARK}
IMAGES = Path(__file__).with_name("images")
FOLDER = Path(__file__).with_name("results")
MARKED = re.compile(
    r"(?P<start><!-- crosslens report (?P<file>\S+)(?: --beside (?P<paper>\S+))?(?: --spread (?P<spread>\S+))? > (?P<table>[^\s:]+)"
    r"(?:: (?P<groups>[^>]+?))? -->\n).*?(?P<end><!-- end -->)",
    re.DOTALL,
)


def filled(text: str) -> str:
    """The text of a page with its marked tables written anew."""
    return MARKED.sub(lambda match: f"{match['start']}{_table(match)}{match['end']}", text)


def _table(match: re.Match[str]) -> str:
    tables = _tables(match["file"], match["paper"])
    if match["table"] not in tables:
        raise ValueError(f"{match[0].splitlines()[0]}: no such table; there are {', '.join(tables)}")
    table = tables[match["table"]]
    if match["groups"]:
        table = replace(table, groups={title: table.groups[title] for title in match["groups"].split("; ")})
    return to_markdown(table, spread=match["spread"] or "none")


@cache
def _tables(file: str, paper: str | None) -> dict[str, Table]:
    results = read_results(FOLDER / file)
    return {table.name: table for table in all_tables(results, beside=find_paper(paper) if paper else None)}


def layer_profile(ink: Ink) -> str:
    """The README's figure as SVG: tagging and parsing with multilingual-e5-small. Its descriptions of marks are left out."""
    results = concatenated(read_results(FOLDER / f"{task}-real-encoder.parquet") for task in ("pos", "parsing"))
    return re.sub(r' (?:aria-\w+|role)="[^"]*"', "", drawn(layer_profiles(results, ink=ink)))


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for ending, ink in ENDINGS.items():
        (IMAGES / f"layer-profile{ending}.svg").write_text(layer_profile(ink), "utf-8")
    for page in sorted(FOLDER.glob("*.md")):
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
