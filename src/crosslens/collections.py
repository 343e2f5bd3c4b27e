"""What of each collection of corpora lies in a data folder; see `crosslens.catalogue` for where."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

SPLITS = ("train", "dev", "test")
RELEASE = re.compile(r"ud-treebanks-v(\d+(?:\.\d+)*)$")

Files = dict[tuple[str, str], Path]
"""(corpus, split) -> file."""


def _treebanks(folder: Path) -> Files:
    """Universal Dependencies, in any of its layouts; of several releases the newest."""
    releases = [folder / "ud", folder] if folder.is_dir() else []
    if folder.is_dir():
        unpacked = [child for child in folder.iterdir() if RELEASE.match(child.name)]
        newest_first = sorted(unpacked, key=lambda c: tuple(map(int, c.name[14:].split("."))), reverse=True)
        releases += newest_first
    return _files(
        (file for release in releases for bank in sorted(release.glob("UD_*")) for file in sorted(bank.iterdir())),
        r"(?P<corpus>\w+)-ud-(?P<split>train|dev|test)\.conllu",
    )


def _uner(folder: Path) -> Files:
    files = sorted((folder / "uner").glob("UNER_*/*.iob2"))
    return _files(files, r"(?P<corpus>\w+)-ud-(?P<split>train|dev|test)\.iob2")


def _by_language(collection: str, pattern: str) -> Callable[[Path], Files]:
    """A collection that has a folder a language, and in it a file a split."""

    def find(folder: Path) -> Files:
        files = sorted((folder / collection).glob(pattern))
        return {(file.parent.name, file.stem): file for file in files if file.stem in SPLITS}

    return find


def _in_one_folder(collection: str, pattern: str) -> Callable[[Path], Files]:
    """A collection whose files lie side by side."""
    return lambda folder: _files(sorted((folder / collection).glob("*")), pattern)


def _whole(collection: str, pattern: str) -> Callable[[Path], Files]:
    """A collection that is one corpus, ``all``."""
    return lambda folder: {
        ("all", split): file
        for split in SPLITS
        if (file := folder / collection / pattern.format(split=split)).is_file()
    }


def _files(files: Iterable[Path], pattern: str) -> Files:
    found: Files = {}
    for file in files:
        parts = re.fullmatch(pattern, file.name)
        if parts:
            found.setdefault((parts["corpus"], parts["split"]), file)
    return found


COLLECTIONS: dict[str, Callable[[Path], Files]] = {
    "ud": _treebanks,
    "uner": _uner,
    "wikiann": _by_language("wikiann", "*/*"),
    "wikineural": _by_language("wikineural", "*/*.conll"),
    "masakhaner": _by_language("masakhaner", "**/*.txt"),
    "sib200": _by_language("sib200", "*/*.tsv"),
    "xnli": _in_one_folder("xnli", r"(?P<split>train|dev|test)-(?P<corpus>\w+)\.tsv"),
    "langid": _whole("langid", "{split}.tsv"),
    "wili": _whole("wili", "x_{split}.txt"),
    "mldoc": _in_one_folder("mldoc", r"(?P<corpus>[a-z]+)\.(?P<split>train|dev|test)(?:\.1000)?"),
}
"""Collection -> what of it is in a data folder. A new collection is one row, and a reader if its format is new."""
