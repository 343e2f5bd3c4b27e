"""``crosslens status``: show the progress of studies."""

import time

import click

from crosslens.cli._options import json_option
from crosslens.errors import RequestError


@click.command("status")
@click.argument("folder")
@click.option("--watch", is_flag=True, help="Refresh every ten seconds until no run is left that can be done.")
@json_option
def command(folder: str, watch: bool, as_json: bool) -> None:
    """Count the runs in FOLDER that are done, running, failed or left, and estimate the remaining time."""
    from crosslens.cli._display import print_object, say
    from crosslens.cli._study import find_store
    from crosslens.runs.status import status

    if watch and as_json:
        raise RequestError("--watch prints lines, not JSON", hint="leave out --watch or --json")
    store = find_store(folder)
    if as_json:
        print_object(status(store))
        return
    while True:
        rows = status(store)
        for row in rows:
            click.echo(row.describe())
        if not rows:
            say(f"{folder} has no studies")
        if not watch or all(row.ended for row in rows):
            return
        time.sleep(10)
