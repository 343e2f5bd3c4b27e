"""Corpora by name: ``ud/en_ewt:train``, ``ud/fr_pud``, ``ud/en_ewt:train[:200]``, or a path, or ``wo=`` and a path.

A name is looked for in the folder that is given, then in ``CROSSLENS_DATA``, then in the user's cache. A folder is laid
out as ``ud/UD_English-EWT/en_ewt-ud-train.conllu``, or as an official release unpacks:
``ud-treebanks-v2.14/UD_English-EWT/…``; it may be that release itself.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import platformdirs

from crosslens.data import conllu
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel, join
from crosslens.errors import DataError, suggest

SPLITS = ("train", "dev", "test")
_NAME = re.compile(r"ud/(?P<treebank>[\w*?]+)(?::(?P<split>\w+))?$", re.ASCII)
_SLICE = re.compile(r"(?P<name>.+)\[(?P<begin>\d*):(?P<end>\d*)\]$")
_LANGUAGE = re.compile(r"(?P<language>[a-z]{2,3}(?:-\w+)*)=(?P<path>.+)$", re.ASCII)
_RELEASE = re.compile(r"ud-treebanks-v(\d+(?:\.\d+)*)$")


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that is looked through for corpora.

    Attributes:
        folder: the folder.
        given_by: what names it: ``--data``, ``CROSSLENS_DATA`` or ``cache``.
    """

    folder: Path
    given_by: str

    def describe(self) -> str:
        """The folder and what was found in it, in one line."""
        if not self.folder.is_dir():
            return f"{self.folder} ({self.given_by}; no such folder)"
        found = _treebanks(self.folder)
        return f"{self.folder} ({self.given_by}; {len({bank for bank, _ in found})} treebanks)"


def roots(data: str | Path | None = None) -> list[Root]:
    """Where corpora are looked for, in this order."""
    found = [Root(Path(data), "--data")] if data else []
    if os.environ.get("CROSSLENS_DATA"):
        found.append(Root(Path(os.environ["CROSSLENS_DATA"]), "CROSSLENS_DATA"))
    return [*found, Root(cache_folder(), "cache")]


def cache_folder() -> Path:
    """The user's own folder of downloaded corpora."""
    return Path(platformdirs.user_cache_dir("crosslens", appauthor=False)) / "data"


def load_corpus(name: str | Path, *, split: str = "test", data: str | Path | None = None) -> Corpus:
    """Read a corpus.

    Args:
        name: ``ud/en_ewt:train``; a path to a .conllu file, perhaps with its language before it as in
            ``wo=my.conllu``; or any of them with a slice such as ``[:200]``.
        split: the split meant where the name has none.
        data: a folder that is looked through first.

    Raises:
        DataError: when there is none of that name: where it was looked for, and how to get it; for a slice that
            leaves nothing; for a file that cannot be read.
    """
    name = str(name)
    sliced = _SLICE.match(name)
    bare = sliced["name"] if sliced else name
    named = _NAME.match(bare)
    corpus = _load_named(bare, named["treebank"], named["split"] or split, data) if named else _load_path(bare)
    if sliced:
        begin, end = (int(sliced[edge]) if sliced[edge] else None for edge in ("begin", "end"))
        size = len(corpus)
        corpus = replace(corpus[begin:end], name=f"{corpus.name}[{sliced['begin']}:{sliced['end']}]")
        if not len(corpus):
            raise DataError(f"{name} is empty: {bare} has {size} sentences")
    return corpus


def load_parallel(name: str, *, languages: Sequence[str] | None = None, data: str | Path | None = None) -> Parallel:
    """Read corpora that are translations of one another, joined by sentence id.

    Args:
        name: ``ud/pud`` is every PUD treebank there is.
        languages: only these.
        data: a folder that is looked through first.

    Raises:
        DataError: when there is none of that name, or none of a language; or when ids differ.
    """
    treebank = name.removeprefix("ud/")
    if not name.startswith("ud/") or not treebank.isidentifier():
        raise DataError(f"{name!r} names no parallel corpus", hint="for example ud/pud, every PUD treebank")
    found = {bank.partition("_")[0]: bank for bank in _find_all(f"*_{treebank}", data)}
    if not found:
        raise _missing(f"*_{treebank}", "test", data)
    for language in languages or ():
        if language not in found:
            raise DataError(f"{name} has no {language!r}", hint=suggest(language, found))
    chosen = sorted(languages or found)
    return join((load_corpus(f"ud/{found[language]}", data=data) for language in chosen), name=name)


def match_corpora(pattern: str, *, data: str | Path | None = None) -> list[str]:
    """The names that a pattern stands for: ``ud/*_pud`` is every PUD treebank; any other name is itself.

    Raises:
        DataError: when nothing matches.
    """
    named = _NAME.match(pattern)
    if not named or not set(named["treebank"]) & set("*?"):
        return [pattern]
    banks = _find_all(named["treebank"], data)
    if not banks:
        raise _missing(named["treebank"], named["split"] or "test", data)
    return [f"ud/{bank}" + (f":{named['split']}" if named["split"] else "") for bank in banks]


def list_corpora(data: str | Path | None = None) -> dict[str, list[str]]:
    """Every treebank found, by name, with its splits."""
    found: dict[str, set[str]] = {}
    for root in roots(data):
        for bank, split in _treebanks(root.folder):
            found.setdefault(f"ud/{bank}", set()).add(split)
    return {bank: [split for split in SPLITS if split in found[bank]] for bank in sorted(found)}


def name_split(name: str, split: str) -> str:
    """The name of another split of the same treebank; a path is itself.

    Raises:
        DataError: for a path, which has no other split.
    """
    named = _NAME.match(_SLICE.sub(r"\g<name>", name))
    if not named:
        raise DataError(f"{name} is a file, so its {split} data must be named too", hint=f"give --{split} as well")
    return f"ud/{named['treebank']}:{split}"


def _load_named(name: str, treebank: str, split: str, data: str | Path | None) -> Corpus:
    if split not in SPLITS:
        raise DataError(f"{name}: there is no split {split!r}", hint=suggest(split, SPLITS))
    for root in roots(data):
        path = _treebanks(root.folder).get((treebank, split))
        if path is not None:
            release = _RELEASE.match(path.parent.parent.name)
            language = treebank.partition("_")[0]
            return conllu.read(
                path, name=f"ud/{treebank}:{split}", language=language, split=split,
                release=release[1] if release else None,
            )  # fmt: skip
    raise _missing(treebank, split, data)


def _load_path(name: str) -> Corpus:
    said = _LANGUAGE.match(name)
    path = Path(said["path"] if said else name)
    if name.startswith("ud/") and not path.exists():
        raise DataError(
            f"{name!r} is no name of a corpus", hint="for example ud/en_ewt:train, or ud/en_ewt:train[:200]"
        )
    if path.exists() and not path.is_dir() and path.suffix != ".conllu":
        raise DataError(f"{name}: only .conllu files are read", hint="rename it if it is CoNLL-U")
    if not path.exists():
        raise DataError(f"there is no corpus {name!r}: no such file", hint="a treebank is named ud/en_ewt:train")
    parts = re.fullmatch(r"([a-z]{2,3})_\w+-ud-(train|dev|test)\.conllu", path.name)
    language = said["language"] if said else parts[1] if parts else None
    return conllu.read(path, name=str(path), language=language, split=parts[2] if parts else None)


def _missing(treebank: str, split: str, data: str | Path | None) -> DataError:
    known = list_corpora(data)
    bank = f"ud/{treebank}"
    if bank in known:
        there = ", ".join(known[bank])
        return DataError(f"{bank} has no {split} split here", hint=f"there is {there}")
    places = ", ".join(f"{root.folder} ({root.given_by})" for root in roots(data))
    near = f"; {suggest(bank, known)}" if known else ""
    return DataError(
        f"there is no corpus {bank!r} in {places}",
        hint=f"set CROSSLENS_DATA to a folder of treebanks, or `crosslens data get ud --release 2.14`{near}",
    )


def _find_all(pattern: str, data: str | Path | None) -> list[str]:
    """The treebanks that a pattern matches, in the first folder that has any: two folders' are never mixed."""
    for root in roots(data):
        found = sorted({bank for bank, _ in _treebanks(root.folder) if fnmatchcase(bank, pattern)})
        if found:
            return found
    return []


def _treebanks(folder: Path) -> dict[tuple[str, str], Path]:
    """(treebank, split) -> file, for all treebanks in a folder of either layout."""
    releases = [folder / "ud", folder] if folder.is_dir() else []
    if folder.is_dir():
        unpacked = [child for child in folder.iterdir() if _RELEASE.match(child.name)]
        newest_first = sorted(unpacked, key=lambda c: tuple(map(int, c.name[14:].split("."))), reverse=True)
        releases += newest_first
    found: dict[tuple[str, str], Path] = {}
    for release in releases:
        for bank in sorted(release.glob("UD_*")) if release.is_dir() else ():
            for file in bank.iterdir():
                parts = re.fullmatch(r"(\w+)-ud-(train|dev|test)\.conllu", file.name)
                if parts:
                    found.setdefault((parts[1], parts[2]), file)
    return found
