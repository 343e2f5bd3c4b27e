"""``crosslens data``: download treebanks."""

import click


@click.group("data")
def command() -> None:
    """Download treebanks; `crosslens list corpora` lists those available."""


@command.command("get")
@click.argument("name")
@click.option(
    "--release",
    required=True,
    help="Release of Universal Dependencies, e.g. 2.14; the papers used 1.4, 2.2, 2.3 and 2.4.",
)
@click.option("--into", metavar="FOLDER", help="Data folder [default: the user's cache].")
@click.option("--url", help="URL of a mirror of the archive.")
@click.option("--sha256", metavar="HEX", help="Expected SHA-256 of the archive.")
def get(name: str, release: str, into: str | None, url: str | None, sha256: str | None) -> None:
    """Download NAME (ud: all treebanks of a Universal Dependencies release, some 600 MB) and unpack it.

    An interrupted download resumes. CROSSLENS_OFFLINE=1 forbids downloads.
    """
    from crosslens.errors import RequestError, suggest

    if name != "ud":
        raise RequestError(f"there is no data called {name!r} to get", hint=suggest(name, ["ud"]))

    from crosslens.cli._display import progress, say
    from crosslens.corpora.catalogue import cache_folder
    from crosslens.corpora.download import get_ud

    folder = into or cache_folder()
    with progress() as bar:
        unpacked = get_ud(release, folder, url=url, sha256=sha256, progress=bar)
    say(f"{unpacked}: {sum(1 for child in unpacked.iterdir() if child.is_dir())} treebanks")
    if into:
        say(f"set CROSSLENS_DATA={into} or pass --data {into} to use them")
