"""``crosslens data``: download corpora."""

import shlex

import click

from crosslens.cli._options import split_names
from crosslens.formatting import counted


@click.group("data")
def command() -> None:
    """Download corpora; `crosslens list corpora` lists those that are there already."""


@command.command("get")
@click.argument("name")
@click.option("--release", help="Release, required for ud only, e.g. 2.14; the papers used 1.4, 2.2, 2.3 and 2.4.")
@click.option(
    "--languages",
    metavar="CODES",
    help="Languages to keep, e.g. fr,de; for muse also pairs, e.g. en-fr [default: all].",
)
@click.option("--into", metavar="FOLDER", help="Data folder [default: the user's cache].")
@click.option("--url", help="URL of a mirror of the archive, or of the folder with the files if there are several.")
@click.option("--sha256", metavar="HEX", help="Expected SHA-256 of the archive.")
def get(
    name: str, release: str | None, languages: str | None, into: str | None, url: str | None, sha256: str | None
) -> None:
    """Download NAME, verify it, and unpack it into a data folder.

    NAME is ud (all treebanks of a Universal Dependencies release, some 600 MB), xnli, muse, tatoeba, sib200, uner,
    masakhaner, wili or wikiann. The licence is printed first. An interrupted download resumes. CROSSLENS_OFFLINE=1
    forbids downloads.
    """
    from crosslens.cli._display import progress, say
    from crosslens.corpora.catalogue import cache_folder
    from crosslens.corpora.downloads.get import UD, find_published
    from crosslens.corpora.downloads.get import get as download

    published = find_published(name, release=release, url=url)
    say(published.title)
    say(f"licence: {published.licence}; see {published.source}")
    chosen = None if languages is None else split_names(languages)
    with progress() as bar:
        folder = download(
            name, into or cache_folder(), release=release, languages=chosen, url=url, sha256=sha256, progress=bar
        )
    files = [file for file in folder.rglob("*") if file.is_file()]
    treebanks = len([*folder.glob("UD_*")])
    size = counted(treebanks, "treebank", "treebanks") if name == UD else counted(len(files), "file", "files")
    say(f"{folder}: {size}")
    if into:
        quoted = shlex.quote(into)
        say(f"set CROSSLENS_DATA={quoted} or pass --data {quoted} to use them")
