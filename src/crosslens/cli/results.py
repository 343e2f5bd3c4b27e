"""``crosslens results``: many results files as one."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from crosslens.results.record import Results


def read_paths(paths: tuple[str, ...]) -> "Results":
    """The records of files, of stores of runs, and of all results files in other folders.

    Raises:
        DataError: when there are none.
    """
    from crosslens.errors import DataError
    from crosslens.results.record import Results

    found = [its for path in map(Path, paths) for its in _read(path)]
    if not found:
        raise DataError("no results.csv in " + ", ".join(paths), hint="name the folder that --out made")
    return sum(found, Results.of([]))


def _read(path: Path) -> "list[Results]":
    from crosslens.results.record import read_results
    from crosslens.runs.store import Store, is_store

    if is_store(path):  # of runs, finished or not: what is done counts
        store = Store(path)
        return [store.collect(study) for study in store.studies()]
    return [read_results(file) for file in (sorted(path.rglob("results.csv")) if path.is_dir() else [path])]


@click.command("results")
@click.argument("paths", nargs=-1, required=True)
@click.option("--csv", "--parquet", "--json", "file", metavar="FILE", help="Write all records; the ending says how.")
@click.option("--metric", metavar="NAME", help="Show the tables of this metric only.")
def command(paths: tuple[str, ...], file: str | None, metric: str | None) -> None:
    """Put the results in PATHS (files, stores of runs, or folders looked through) together, and print their tables.

    With a reference among them, the other conditions are shown as differences to it.
    """
    from crosslens.cli.show import show_tables
    from crosslens.files import refuse_existing

    if file:
        refuse_existing(file, what="--csv")
    results = read_paths(paths)
    if file:
        results.write(file)
    show_tables(results, metric=metric)
