"""Fill the tables of docs/results with what `crosslens report` writes: python docs/make_results.py. A test checks them.

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

from crosslens.report.papers import find_paper
from crosslens.report.render import to_markdown
from crosslens.report.table import Table
from crosslens.report.tables import all_tables
from crosslens.results.record import read_results

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


if __name__ == "__main__":
    for page in sorted(FOLDER.glob("*.md")):
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
