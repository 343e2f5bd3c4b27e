"""``crosslens results``: merge, print and convert results."""

from typing import TYPE_CHECKING

import click

from crosslens.cli._options import csv_option, sort_option, where_option
from crosslens.errors import require_known
from crosslens.files import write_finished

if TYPE_CHECKING:
    from crosslens.results.order import Order


@click.command("results")
@click.argument("paths", nargs=-1, required=True)
@csv_option(
    "--parquet",
    "--json",
    "files",
    description="File for the records, in the format of its ending; repeatable",
    repeatable=True,
)
@click.option("--metric", metavar="NAME", help="Metric to show, or all [default: the main metric of each task].")
@where_option
@sort_option
def command(
    paths: tuple[str, ...], files: tuple[str, ...], metric: str | None, where: tuple[str, ...], sort: "Order"
) -> None:
    """Merge the results in PATHS (files, folders of runs, or folders searched recursively), and print their tables.

    If they include a reference, the other conditions are shown as differences from it.
    """
    from crosslens.cli._display import show_tables
    from crosslens.report.incomplete import not_evaluated
    from crosslens.runs.recorded import read_results

    results = read_results(*paths, encoded=True).matching(*where)
    metrics = {name for (name,), _ in results.groups("metric") if name is not None}
    if metric is not None:
        require_known(metric, {"all", *metrics}, "these results have no metric")
    for file in files:
        write_finished(file, results.write)
    studies = results.columns.coded("study").values if where else None
    show_tables(results, metric=metric, sort=sort, notes=not_evaluated(paths, studies=studies))
