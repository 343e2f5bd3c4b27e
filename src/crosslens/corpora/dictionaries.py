"""Load bilingual dictionaries by name: ``muse/en-fr:test``, ``lab/src-adj``, or a path.

MUSE dictionaries are read from a data folder (`crosslens.corpora.catalogue.roots`) as published:
``muse/en-fr.0-5000.txt`` is the training split, ``en-fr.5000-6500.txt`` the test split, and ``en-fr.txt`` the full
dictionary. Dictionaries of artificial languages are generated; their test split is every fifth word pair.
"""

import re
from dataclasses import replace
from pathlib import Path

from crosslens.corpora.catalogue import LAB, absent, find_lab, roots
from crosslens.corpora.collection import is_same_language
from crosslens.data.dictionary import Dictionary, of_words, read
from crosslens.errors import DataError, RequestError, suggest_beside

MUSE = {"train": ".0-5000", "test": ".5000-6500", None: ""}
"""Split -> infix of its file name."""

_NAME = re.compile(r"(?P<collection>muse|lab)/(?P<source>\w+)-(?P<target>\w+)(?::(?P<split>train|test))?", re.ASCII)


def load_dictionary(name: str | Path, *, data: str | Path | None = None) -> Dictionary:
    """Read a bilingual dictionary.

    Args:
        name: name such as ``muse/en-fr:test``, or a path; without a split, the full dictionary.
        data: data folder to search first.

    Returns:
        The dictionary, with word pairs in the order of the file.

    Raises:
        DataError: if the dictionary is not found or a file cannot be read.

    Examples:
        >>> xl.load_dictionary("lab/src-adj:test").pairs[:2]
        (('mipo', 'tapi', 1.0), ('pibo', 'sozu', 1.0))
    """
    named = _NAME.fullmatch(str(name))
    if not named:
        if not Path(name).exists():
            raise DataError(
                f"dictionary file {str(name)!r} not found",
                hint=suggest_beside(
                    name, otherwise="give a file, or a name such as muse/en-fr:test or lab/src-adj:train"
                ),
            )
        return read(name)
    if named["collection"] == LAB:
        return _of_laboratory(str(name), named)
    for root in roots(data):
        files = [root.folder / "muse" / f"{named['source']}-{named['target']}{MUSE[named['split']]}.txt"]
        if named["split"] is None and not files[0].is_file():  # the full dictionary is both splits together
            infixes = [MUSE["train"], MUSE["test"]]
            files = [root.folder / "muse" / f"{named['source']}-{named['target']}{infix}.txt" for infix in infixes]
        if all(file.is_file() for file in files):
            pairs = tuple(pair for file in files for pair in read(file).pairs)
            return Dictionary(pairs, str(name), (named["source"], named["target"]))
    get = f"`crosslens data get muse --languages {named['source']}-{named['target']}`"
    raise absent(f"dictionary {name}", data, get=get)


def _of_laboratory(name: str, named: re.Match) -> Dictionary:
    target, laboratory = find_lab(named["target"])
    pairs = laboratory.dictionary(named["source"], target)
    if named["split"]:
        test = named["split"] == "test"
        pairs = [pair for number, pair in enumerate(pairs) if (number % 5 == 0) == test]
    return replace(of_words(pairs, name=name), languages=(named["source"], target))


def require_languages(dictionary: Dictionary, source: str | None, target: str | None) -> None:
    """Check that a dictionary translates from one language to the other, if all are known.

    Raises:
        RequestError: if its name has other languages, or these in the other direction.
    """
    pairs = zip(dictionary.languages or (), (source, target), strict=False)
    if any(given is not None and not is_same_language(own, given) for own, given in pairs):
        own = " to ".join(dictionary.languages or ())
        raise RequestError(
            f"{dictionary.name} translates {own}, not {source} to {target}",
            hint="name a dictionary of these languages in this direction, or a file by its path",
        )
