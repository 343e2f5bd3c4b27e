"""``crosslens explain``: show what determines a run."""

import click


@click.command("explain")
@click.argument("run")
@click.option("--out", "folder", required=True, metavar="FOLDER", help="Folder of runs.")
def command(run: str, folder: str) -> None:
    """Show what determines RUN (an id or its beginning), and how the most similar run differs."""
    from crosslens.cli._study import describe_differences, find_store
    from crosslens.errors import RequestError
    from crosslens.runs.explain import flat, nearest

    store = find_store(folder)
    matching = [known for known in store.ids() if known.startswith(run)]
    if len(matching) != 1:
        reason = f"{len(matching)} runs begin so" if matching else "there is none"
        raise RequestError(
            f"{run!r} names no run of {folder}: {reason}", hint="`crosslens plan STUDY --all` lists them"
        )
    described = store.describe(matching[0])
    click.echo(f"{described['run']}: {described['label']}")
    for name, value in flat(described["identity"]).items():
        click.echo(f"  {name:<24} {value}")
    studies = [name for name, runs in store.studies().items() if matching[0] in runs]
    click.echo(f"studies: {', '.join(studies)}" if studies else "none in this folder")
    near = nearest(described["identity"], store, besides=matching[0])
    if near:
        click.echo(f"nearest: {near[0]}, {store.describe(near[0])['label']}; here {describe_differences(near[1])}")
    if "repeat" in described:
        click.echo(f"repeat: {described['repeat']}")
    click.echo(f"log: {store.path(matching[0]) / 'log.txt'}")
