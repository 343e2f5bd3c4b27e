"""``crosslens status``: show the progress of studies."""

import time

import click


@click.command("status")
@click.argument("folder")
@click.option("--watch", is_flag=True, help="Refresh every ten seconds until all runs are finished.")
def command(folder: str, watch: bool) -> None:
    """Count the runs in FOLDER that are done, running, failed or left, and estimate the remaining time."""
    from crosslens.cli._study import find_store
    from crosslens.runs.status import status

    store = find_store(folder)
    while True:
        rows = status(store)
        for row in rows:
            click.echo(row.describe())
        if not watch or all(row.done == row.runs and not row.waiting for row in rows):
            return
        time.sleep(10)
