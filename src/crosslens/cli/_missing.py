"""Missing corpora on the terminal: what is left out, licences, and how to get them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosslens.studies.missing import Missing

NARROW = 80
"""Width of tables in files and pipes, in characters."""


def describe_missing(missing: "Iterable[Missing]") -> list[str]:
    """Say what is left out because corpora are missing, in one line for each part of the study."""
    corpora: dict[str, list[str]] = {}
    for corpus in missing:
        for part in corpus.needed_for:
            corpora.setdefault(part, []).append(corpus.corpus)
    return [f"left out: {part} (missing: {', '.join(names)})" for part, names in corpora.items()]


def print_missing(missing: "Iterable[Missing]") -> None:
    """Print a table of missing corpora, one row per place to get them from, with licence and how to get them."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from crosslens.cli._columns import output
    from crosslens.corpora.collection import COLLECTIONS, ELSEWHERE, SEE_SOURCE, how_to_get
    from crosslens.studies.missing import join_releases, join_splits

    corpora: dict[tuple[str, str], list[Missing]] = {}
    for corpus in missing:
        elsewhere = ELSEWHERE.get(corpus.corpus.partition(":")[0], "")
        corpora.setdefault((corpus.collection, elsewhere), []).append(corpus)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    table.add_column("missing", overflow="fold", max_width=22)
    table.add_column("licence", overflow="fold", max_width=18)
    table.add_column("how to get it", overflow="fold", min_width=33)
    for (name, elsewhere), alike in sorted(corpora.items(), key=lambda row: row[0]):
        collection = None if elsewhere else COLLECTIONS.get(name)
        get = how_to_get(name, releases=join_releases(alike))
        ways = list(filter(None, (get, collection.published) if collection else (elsewhere,)))
        licence = collection.licence if collection else SEE_SOURCE
        names = join_splits(corpus.corpus for corpus in alike)
        table.add_row(*map(Text, ("\n".join(names), licence, "\n".join(ways or ["your own file"]))))
    output(NARROW).print(table)
