"""``crosslens results``: merge, print and convert results."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from crosslens.results.record import Results


NAMES = ("results.csv", "results.parquet")
"""File names of results in folders."""


def read_paths(paths: tuple[str, ...]) -> "Results":
    """Read the records of results files, stores of runs, and other folders.

    Folders are searched recursively for ``results.csv``, or else ``results.parquet``.

    Raises:
        DataError: when there are no results.
    """
    from crosslens.errors import DataError
    from crosslens.results.record import concatenated

    tables = [table for path in map(Path, paths) for table in _read(path)]
    if not tables:
        raise DataError(f"no {' or '.join(NAMES)} in {', '.join(paths)}", hint="name the folder that --out made")
    return concatenated(tables)


def _read(path: Path) -> "list[Results]":
    from crosslens.results.record import read_results
    from crosslens.runs.store import Store, is_store

    if is_store(path):  # its studies may be unfinished
        store = Store(path)
        return [store.collect(study) for study in store.studies()]
    return [read_results(file) for file in (_results_files(path) if path.is_dir() else [path])]


def _results_files(folder: Path) -> list[Path]:
    parents = sorted({file.parent for name in NAMES for file in folder.rglob(name)})
    return [next(parent / name for name in NAMES if (parent / name).is_file()) for parent in parents]


@click.command("results")
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--csv", "--parquet", "--json", "file", metavar="FILE", help="File for all records, in the format of its ending."
)
@click.option("--metric", metavar="NAME", help="Metric whose tables are shown [default: all].")
def command(paths: tuple[str, ...], file: str | None, metric: str | None) -> None:
    """Merge the results in PATHS (files, folders of runs, or folders searched recursively), and print their tables.

    If they include a reference, the other conditions are shown as differences from it.
    """
    from crosslens.cli._display import show_tables
    from crosslens.errors import RequestError, suggest
    from crosslens.files import refuse_existing, write_finished
    from crosslens.report.incomplete import not_evaluated

    if file:
        refuse_existing(file, what="--csv")
    results = read_paths(paths)
    metrics = {name for (name,), _ in results.groups("metric") if name is not None}
    if metric is not None and metric not in metrics:
        raise RequestError(f"these results have no metric {metric!r}", hint=suggest(metric, metrics))
    if file:
        write_finished(file, results.write)
    show_tables(results, metric=metric, notes=not_evaluated(paths))
