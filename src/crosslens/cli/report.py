"""``crosslens report``: write tables, figures and a page from results."""

import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosslens.cli._options import choice_option, out_option, sort_option, where_option
from crosslens.errors import RequestError, suggest
from crosslens.files import write_folder

if TYPE_CHECKING:
    from crosslens.report.render import Spread
    from crosslens.results.order import Order


def _number(context: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuse nan, which the range of an option accepts."""
    if math.isnan(value):
        raise click.BadParameter("nan is not a number.", context, parameter)
    return value


@click.command("report")
@click.argument("paths", nargs=-1, required=True)
@out_option("Folder for tables and figures")
@click.option(
    "--beside",
    metavar="PAPER",
    help="Paper whose published scores are printed below yours: muller2021, wu2019 or conneau2020.",
)
@click.option(
    "--title", default="Where does cross-lingual transfer live?", show_default=True, help="Title of the page."
)
@click.option(
    "--width",
    type=click.FloatRange(2, 12),
    callback=_number,
    default=6.8,
    show_default=True,
    metavar="INCHES",
    help="Width of the figures at most: 6.8 for the text of a page, 3.3 for a column.",
)
@where_option
@sort_option
@choice_option(
    "--spread",
    ["none", "std", "interval"],
    "Add to each number its standard deviation over seeds, or its 95 % confidence interval, with * for"
    " differences that are significant after correction; from results files, differences are not paired by sentence.",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="FILE",
    help="Rule of `crosslens advise` whose errors are added; repeatable: the first rule also estimates the scores of"
    " the others.",
)
def command(
    paths: tuple[str, ...],
    out: str,
    beside: str | None,
    title: str,
    width: float,
    where: tuple[str, ...],
    sort: "Order",
    spread: "Spread",
    rules: tuple[str, ...],
) -> None:
    """Write tables and figures like those of the papers from the results in PATHS (files, folders, stores of runs).

    OUT/index.html is an offline page with findings, interactive tables, and the run behind every number. Each table is
    a .tex (booktabs, coloured by the paper's thresholds), a .md and a .csv file; tables.tex contains all tables.
    Similarity, retrieval, transfer through a mapping and probes have tables with one column per layer. Figures are
    .pdf, .svg and .png with letters of 8 points, and need `pip install 'crosslens[report]'`.
    """
    from crosslens.heap import release_heap
    from crosslens.report.papers import find_paper

    paper = find_paper(beside) if beside else None

    from crosslens.cli._display import print_report, say
    from crosslens.report.charts.figures import write_figures
    from crosslens.report.findings import findings
    from crosslens.report.incomplete import not_evaluated, with_caption
    from crosslens.report.page import known_runs, make_page
    from crosslens.report.render import latex_document, to_csv, to_latex, to_markdown
    from crosslens.report.significance import read_significance, significance_of
    from crosslens.report.tables import all_tables, without_contradictions
    from crosslens.report.typology import read_typologies, typology_table
    from crosslens.runs.recorded import read_results
    from crosslens.runs.store import is_store
    from crosslens.tasks import TASKS

    results = read_results(*paths, encoded=True).matching(*where).sorted(sort)  # once: a copy of many records is large
    results = without_contradictions(results, say)
    intervals = None
    with suppress(RequestError):  # without a finished study, figures show the seeds
        intervals = read_significance(paths)
    significance = (intervals or significance_of(results)) if spread == "interval" else None
    tables = all_tables(results, sort=sort, beside=paper, significance=significance, skipped=say)
    typology = read_typologies(() if where else paths, results, sort=sort, skipped=say)
    if where and typology is not None and any(map(is_store, paths)):
        say("typology: of chosen records (--where), the tests are not paired by sentence, as they are of whole runs")
    classes = None if typology is None else typology_table(typology)
    tables += [] if classes is None else [classes]
    if rules:  # imports torch, which other tables do not need
        from crosslens.report.transfer_rule import rule_tables
        from crosslens.unseen.rule import read_rule

        tables += rule_tables([read_rule(rule) for rule in rules], results)
    without = [table.name for table in tables if not any(cell.interval for cell in table.cells)]
    if spread == "interval" and without:
        say(f"tables without intervals: {', '.join(without)}")
    missing = not_evaluated(paths, studies=results.columns.coded("study").values if where else None)
    tables = [with_caption(table, missing) for table in tables]
    figures: list[str] = []

    def write(folder: Path) -> None:
        for table in tables:
            texts = {
                "tex": to_latex(table, spread=spread),
                "md": to_markdown(table, spread=spread),
                "csv": to_csv(table),
            }
            for ending, text in texts.items():
                (folder / f"{table.name}.{ending}").write_text(text, "utf-8")
        if tables:
            (folder / "tables.tex").write_text(latex_document([table.name for table in tables]), "utf-8")
        paragraphs = [*missing, *findings(results)]
        runs = known_runs(paths)
        page = make_page(results, title=title, sort=sort, findings=paragraphs, runs=runs, typology=classes)
        (folder / "index.html").write_text(page, "utf-8")
        del page
        release_heap()  # of many records, tables and page leave hundreds of MiB; figures need as much again
        try:
            figures[:] = write_figures(
                results, folder, sort=sort, typology=typology, significance=intervals, width=width
            )
        except RequestError as error:
            say(str(error))

    write_folder(out, write)
    if tables:
        print_report(tables[0], spread=spread)
    else:
        unknown = sorted({str(task) for task in results.records["task"].drop_null().to_pylist()} - set(TASKS))
        say(
            "these results fill no table"
            + "".join(f"; unknown task {name!r} ({suggest(name, TASKS)})" for name in unknown)
        )
    names = ["index.html", *(table.name for table in tables), *figures]
    say(f"{out}: {', '.join(dict.fromkeys(names))}")  # a figure may have the name of its table
