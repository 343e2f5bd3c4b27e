"""``crosslens data``: get treebanks."""

import click


@click.group("data")
def command() -> None:
    """Get treebanks; `crosslens list corpora` shows those that are there."""


@command.command("get")
@click.argument("name")
@click.option("--release", required=True, help="Such as 2.14; the papers used 1.4, 2.2, 2.3 and 2.4.")
@click.option("--into", metavar="FOLDER", help="The data folder [the user's cache, where corpora are looked for].")
@click.option("--url", help="A mirror's address of the archive.")
@click.option("--sha256", metavar="HEX", help="What the archive must have.")
def get(name: str, release: str, into: str | None, url: str | None, sha256: str | None) -> None:
    """Download NAME (ud: all treebanks of a Universal Dependencies release, some 600 MB) and unpack it.

    An interrupted download goes on where it stopped. CROSSLENS_OFFLINE=1 forbids it.
    """
    from crosslens.errors import RequestError, suggest

    if name != "ud":
        raise RequestError(f"there is no data called {name!r} to get", hint=suggest(name, ["ud"]))

    from crosslens.cli._display import progress, say
    from crosslens.corpora.catalogue import cache_folder
    from crosslens.corpora.download import get_ud

    folder = into or cache_folder()
    with progress() as bar:
        made = get_ud(release, folder, url=url, sha256=sha256, progress=bar)
    say(f"{made}: {sum(1 for child in made.iterdir() if child.is_dir())} treebanks")
    if into:
        say(f"set CROSSLENS_DATA={into}, or give --data, so that they are found")
