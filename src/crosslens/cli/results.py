"""``crosslens results``: many results files as one."""

from pathlib import Path

import click


@click.command("results")
@click.argument("paths", nargs=-1, required=True)
@click.option("--csv", "csv", metavar="FILE", help="Write all records to this .csv, .parquet or .json file.")
@click.option("--metric", metavar="NAME", help="Show the table of this metric [the first there is].")
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
    frame = results.to_pandas()
    scores = frame[frame["measure"].isna()]
    for (task, source, encoder), block in scores.groupby(["task", "source", "encoder"], sort=False):
        wanted = metric or block["metric"].iloc[0]
        chosen = results.filter(task=task, source=source, encoder=encoder, metric=wanted, measure=None)
        seeds = block["seed"].nunique()
        title = f"{task} {wanted}, source {source}, {encoder}"
        print_table(chosen.table(), title=title, note=f"mean of {seeds} seed{'s' * (seeds > 1)}")
    for encoder in frame.loc[frame["measure"].notna(), "encoder"].unique():
        chosen = results.filter(encoder=encoder, metric="similarity")
        print_table(chosen.table(), title=f"similarity by layer, {encoder}", decimals=3)
