"""``crosslens results``: many results files as one."""

from pathlib import Path

import click


@click.command("results")
@click.argument("paths", nargs=-1, required=True)
@click.option("--csv", "csv", metavar="FILE", help="Write all records to this .csv, .parquet or .json file.")
@click.option("--metric", metavar="NAME", help="Show the tables of this metric only.")
def command(paths: tuple[str, ...], csv: str | None, metric: str | None) -> None:
    """Put the results files in PATHS (files, or folders looked through) together, and print their tables.

    With a reference among them, the other conditions are shown as differences to it.
    """
    from crosslens.cli.show import print_table
    from crosslens.data.records import Results, read_results
    from crosslens.errors import DataError
    from crosslens.files import refuse_existing

    if csv:
        refuse_existing(csv, what="--csv")
    files = [
        file for path in map(Path, paths) for file in (sorted(path.rglob("results.csv")) if path.is_dir() else [path])
    ]
    if not files:
        raise DataError("no results.csv in " + ", ".join(paths), hint="name the folder that --out made")
    results: Results = sum((read_results(file) for file in files[1:]), read_results(files[0]))
    if csv:
        results.write(csv)
    for (task, found, source, encoder), block in results.groups("task", "metric", "source", "encoder"):
        if task and found == (metric or found):
            seeds = len(block.groups("seed"))
            title = f"{task} {found}, source {source}, {encoder}"
            print_table(block.table(), title=title, note=f"mean of {seeds} seed{'s' * (seeds > 1)}")
    for (found, encoder), block in results.groups("metric", "encoder"):
        if found == "similarity" and metric in (None, found):
            print_table(block.table(), title=f"similarity by layer, {encoder}", decimals=3)
