"""Fill the tables of docs/results with what `crosslens report` writes: python docs/make_results.py. A test checks them.

It also draws the figures of the README and of the gallery from the same records.

A page marks a table by the arguments of the command, the table's name and, if only some of its groups are to be shown,
their titles, and if only some of the rows, their labels:

    <!-- crosslens report pos.parquet --beside muller2021 > similarity-cka: mean of 18 pairs; en–fr -->
    (written here)
    <!-- end -->
    <!-- crosslens report unseen/zero-shot.parquet > supervision-pos-accuracy | wo; mt -->
    (written here)
    <!-- end -->
"""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

from crosslens.report.charts.figures import all_figures, drawn, layer_profiles
from crosslens.report.papers import find_paper
from crosslens.report.render import to_markdown
from crosslens.report.significance import significance_of
from crosslens.report.table import Table
from crosslens.report.tables import all_tables
from crosslens.report.transfer_rule import rule_tables
from crosslens.report.typology import read_typologies, typology_table
from crosslens.results.layer_profile import DARK, LIGHT
from crosslens.results.record import concatenated, read_results
from crosslens.unseen.rule import read_rule

ENDINGS = {"": LIGHT, "-dark": DARK}
GALLERY: dict[str, tuple[str, dict[str, object]]] = {
    "layers-by-target": ("pos-real-encoder", {}),
    "seeds": ("parsing-real-encoder", {}),
    "interventions": ("interventions-real-encoder", {}),
    "similarity": ("english-encoder", {}),
    "gap": ("pos-real-encoder", {}),
    "sentences": ("english-encoder", {}),
    "probes": ("five-tasks-real-encoder", {}),
    "pretraining-steps": ("checkpoints", {}),
    "dose-response": ("dose-response", {}),
}
"""Figure of the gallery -> file of records, and the columns that select some of them."""
IMAGES = Path(__file__).with_name("images")
FOLDER = Path(__file__).with_name("results")
MARKED = re.compile(
    r"(?P<start><!-- crosslens report (?P<file>\S+)(?: --beside (?P<paper>\S+))?(?: --spread (?P<spread>\S+))?"
    r"(?P<rules>(?: --rule \S+)*) > (?P<table>[^\s:]+)(?:: (?P<groups>[^>|]+?))?(?: \| (?P<rows>[^>]+?))? -->\n)"
    r".*?(?P<end><!-- end -->)",
    re.DOTALL,
)


def filled(text: str) -> str:
    """The text of a page with its marked tables written anew."""
    return MARKED.sub(lambda match: f"{match['start']}{_table(match)}{match['end']}", text)


def _table(match: re.Match[str]) -> str:
    rules = tuple(match["rules"].split()[1::2])
    tables = _tables(match["file"], match["paper"], rules, intervals=match["spread"] == "interval")
    if match["table"] not in tables:
        raise ValueError(f"{match[0].splitlines()[0]}: no such table; there are {', '.join(tables)}")
    table = tables[match["table"]]
    if match["groups"]:
        table = _some(table, match["groups"].split("; "))
    if match["rows"]:
        table = _rows(table, match["rows"].split("; "))
    return to_markdown(table, spread=match["spread"] or "none")


def _some(table: Table, titles: list[str]) -> Table:
    """Some groups of a table, without the columns that are empty in all of them."""
    if unknown := [title for title in titles if title not in table.groups]:
        raise ValueError(f"{table.name} has no group {unknown[0]!r}; there are {'; '.join(table.groups)}")
    rows = [row for title in titles for row in table.groups[title]]
    kept = [place for place in range(len(table.head)) if any(row.cells[place].value is not None for row in rows)]
    groups = {
        title: tuple(replace(row, cells=tuple(row.cells[place] for place in kept)) for row in table.groups[title])
        for title in titles
    }
    of_column = [title for title, size in table.panels.items() for _ in range(size)]
    panels = Counter(of_column[place] for place in kept) if of_column else {}
    return replace(table, head=tuple(table.head[place] for place in kept), groups=groups, panels=panels)


def _rows(table: Table, labels: list[str]) -> Table:
    """Some rows of a table."""
    groups = {title: tuple(row for row in rows if row.label in labels) for title, rows in table.groups.items()}
    if unknown := set(labels) - {row.label for rows in groups.values() for row in rows}:
        raise ValueError(f"{table.name} has no row {', '.join(sorted(unknown))}")
    return replace(table, groups={title: rows for title, rows in groups.items() if rows})


@cache
def _tables(file: str, paper: str | None, rules: tuple[str, ...], *, intervals: bool) -> dict[str, Table]:
    results = read_results(FOLDER / file)
    significance = significance_of(results) if intervals else None
    tables = all_tables(results, beside=find_paper(paper) if paper else None, significance=significance)
    typology = read_typologies([FOLDER / file], results)
    tables += [] if typology is None else [typology_table(typology)]
    tables += rule_tables([read_rule(FOLDER / rule) for rule in rules], results)
    return {table.name: table for table in tables}


def images() -> dict[str, str]:
    """File name -> SVG: the README's figure, tagging and parsing with multilingual-e5-small, and those of the gallery."""
    results = concatenated(read_results(FOLDER / f"{task}-real-encoder.parquet") for task in ("pos", "parsing"))
    charts = {f"layer-profile{ending}.svg": layer_profiles(results, ink=ink) for ending, ink in ENDINGS.items()}
    for name, (file, columns) in GALLERY.items():
        charts[f"{name}.svg"] = all_figures(read_results(FOLDER / f"{file}.parquet").filter(**columns))[name]
    return {name: _small(drawn(chart)) for name, chart in charts.items()}


def _small(svg: str) -> str:
    """An SVG without the descriptions of its marks, which are most of its size; pages describe it."""
    return re.sub(r' (?:aria-\w+|role)="[^"]*"', "", svg)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name, svg in images().items():
        (IMAGES / name).write_text(svg, "utf-8")
    for page in sorted(FOLDER.glob("*.md")):
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
