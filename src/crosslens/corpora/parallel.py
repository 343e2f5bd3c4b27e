"""Parallel corpora by name: ``ud/pud``, ``tatoeba/fr``, ``sib200/test``, ``xnli/dev[:1500]``, ``en=a.txt,fr=b.txt``.

A data folder has each as published; `crosslens.corpora.collection` lists the files, and which corpora are parallel.
``lab/all`` is every artificial language. Files are named with their languages, ``en=dev.en,wo=dev.wo``: they are
aligned line by line, or by the ids of their sentences where they end in ``.conllu``.
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from crosslens.corpora.catalogue import LAB, find_lab, load_corpus, places, roots, split_slice
from crosslens.corpora.collection import COLLECTIONS, Collection, Sides
from crosslens.data.formats import text
from crosslens.data.parallel import Parallel, join
from crosslens.errors import DataError, suggest

_FILE = re.compile(r"(?P<language>[a-z]{2,3}(?:-\w+)*)=(?P<path>.+)", re.ASCII)


def load_parallel(name: str, *, languages: Sequence[str] | None = None, data: str | Path | None = None) -> Parallel:
    """Read corpora that are translations of one another, joined by id and checked.

    Args:
        name: as above; a slice such as ``[:100]`` takes the first items of every language.
        languages: only these.
        data: a folder that is looked through first.

    Returns:
        The corpora, one for each language, aligned item by item.

    Raises:
        DataError: when there is none of that name, or none of a language; or when ids differ.

    Example:
        >>> parallel = xl.load_parallel("ud/pud", languages=["en", "fr"], data=sample)
        >>> parallel.languages, len(parallel.corpora["fr"])
        (('en', 'fr'), 100)
    """
    bare, cut = split_slice(name)
    sides = _sides(bare, data)
    for language in languages or ():
        if language not in sides:
            raise DataError(f"{name} does not contain language {language!r}", hint=suggest(language, sides))
    return join((cut.of(sides[language]()) for language in sorted(languages or sides)), name=name)


def list_languages(name: str, *, data: str | Path | None = None) -> tuple[str, ...]:
    """The languages of a parallel corpus, sorted, without reading them.

    Raises:
        DataError: when there is none of that name.
    """
    return tuple(sorted(_sides(split_slice(name)[0], data)))


def _sides(name: str, data: str | Path | None) -> Sides:
    if "=" in name:
        return _files(name)
    collection, _, part = name.partition("/")
    known = collection == LAB or (collection in COLLECTIONS and COLLECTIONS[collection].sides is not None)
    if not known or not re.fullmatch(r"[\w-]+", part):
        there = ", ".join(
            f"{name}/…" for name in (*(name for name, collection in COLLECTIONS.items() if collection.sides), LAB)
        )
        hint = f"for example ud/pud, every PUD treebank; there are {there}, and en=FILE,fr=FILE"
        raise DataError(f"{name!r} is not the name of a parallel corpus", hint=hint)
    sides = _laboratory(part) if collection == LAB else _published(COLLECTIONS[collection], part, data)
    if not sides:
        raise DataError(
            f"parallel corpus {name!r} not found in {places(data)}",
            hint="set CROSSLENS_DATA to the folder that contains it",
        )
    return sides


def _published(collection: Collection, part: str, data: str | Path | None) -> Sides:
    """The sides in the first folder that has any: two folders' are never mixed."""
    assert collection.sides is not None
    return next((sides for root in roots(data) if (sides := collection.sides(root.folder, part))), {})


def _files(name: str) -> Sides:
    sides: Sides = {}
    for part in name.split(","):
        tagged = _FILE.fullmatch(part)
        if not tagged:
            raise DataError(f"{part!r} does not name a language and a file", hint="write each side as fr=FILE")
        language, path = tagged["language"], tagged["path"]
        if language in sides:
            raise DataError(f"{name} names two files for {language!r}")
        by_id = path.endswith(".conllu")
        sides[language] = partial(load_corpus, part) if by_id else partial(text.read_lines, path, language=language)
    return sides


def _laboratory(part: str) -> Sides:
    every, laboratory = find_lab(part)
    if every != "all":
        return {}
    preset = part.removeprefix(every)
    return {language: partial(load_corpus, f"{LAB}/{language}{preset}") for language in laboratory.languages}
