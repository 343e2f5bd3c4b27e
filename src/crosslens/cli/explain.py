"""``crosslens explain``: show what determines a run."""

import click

from crosslens.cli._options import json_option
from crosslens.errors import RequestError


@click.command("explain")
@click.argument("run")
@click.option("--out", "folder", required=True, metavar="FOLDER", help="Folder of runs.")
@json_option
def command(run: str, folder: str, as_json: bool) -> None:
    """Show the identity of RUN (an id or its beginning), and how the most similar run of its kind differs."""
    from crosslens.cli._display import print_object
    from crosslens.cli._study import describe_differences, find_store
    from crosslens.runs.explain import flat, kind_of, nearest

    store = find_store(folder)
    matching = [name for name in store.ids() if name.startswith(run)]
    if len(matching) != 1:
        reason = f"{len(matching)} run ids of {folder} begin" if matching else f"no run id of {folder} begins"
        raise RequestError(f"{reason} with {run!r}", hint=f"`crosslens plan STUDY --out {folder} --all` lists them")
    described = store.describe(matching[0])
    studies = [name for name, runs in store.studies().items() if matching[0] in runs]
    neighbour = nearest(described["identity"], store.identities(), besides=matching[0])
    log = store.path(matching[0]) / "log.txt"
    if as_json:
        name, different = neighbour or (None, {})
        print_object({**described, "studies": studies, "nearest": name, "differences": different, "log": str(log)})
        return
    click.echo(f"{described['run']}: {described['label']}")
    for name, value in flat(described["identity"]).items():
        click.echo(f"  {name:<24} {value}")
    click.echo(f"studies: {', '.join(studies) or 'none in this folder'}")
    if neighbour:
        name, different = neighbour
        click.echo(f"nearest: {name}, {store.describe(name)['label']}; here {describe_differences(different)}")
    elif len(store.ids()) > 1:
        click.echo(f"nearest: none; no other run in {folder} is of this kind ({kind_of(described['identity'])})")
    if "repeat" in described:
        click.echo(f"repeat: {described['repeat']}")
    click.echo(f"log: {log}")
