"""Parallel corpora by name: ``ud/pud``, ``tatoeba/fr``, ``sib200/test``, ``xnli/dev[:1500]``, ``en=a.txt,fr=b.txt``.

Each lies in a data folder (`crosslens.catalogue.roots`) as it is published:

    ud            every treebank of a name: ``ud/pud`` is ``ud/UD_English-PUD``, ``ud/UD_French-PUD``, …
    tatoeba       ``tatoeba/tatoeba.fra-eng.fra`` and ``….eng``, English with one other language
    sib200        ``sib200/eng_Latn/test.tsv``
    xnli          ``xnli/dev-en.tsv``; its hypotheses, because a premise comes three times

``lab/all`` is every artificial language. Files are named with their languages, ``en=dev.en,wo=dev.wo``: they are
aligned line by line, or by the ids of their sentences where they end in ``.conllu``.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from crosslens.catalogue import LAB, find_corpora, find_lab, language_tag, load_corpus, places, roots, split_slice
from crosslens.data import text, tsv
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel, join
from crosslens.errors import DataError, suggest

Sides = dict[str, Callable[[], Corpus]]
"""Language -> what reads its side."""

_FILE = re.compile(r"(?P<language>[a-z]{2,3}(?:-\w+)*)=(?P<path>.+)", re.ASCII)


def load_parallel(name: str, *, languages: Sequence[str] | None = None, data: str | Path | None = None) -> Parallel:
    """Read corpora that are translations of one another, joined by id and checked.

    Args:
        name: as above; a slice such as ``[:100]`` takes the first items of every language.
        languages: only these.
        data: a folder that is looked through first.

    Raises:
        DataError: when there is none of that name, or none of a language; or when ids differ.
    """
    bare, cut = split_slice(name)
    sides = _sides(bare, data)
    for language in languages or ():
        if language not in sides:
            raise DataError(f"{name} has no {language!r}", hint=suggest(language, sides))
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
    if collection not in COLLECTIONS or not re.fullmatch(r"[\w-]+", part):
        known = ", ".join(f"{its}/…" for its in COLLECTIONS)
        hint = f"for example ud/pud, every PUD treebank; there are {known}, and en=FILE,fr=FILE"
        raise DataError(f"{name!r} names no parallel corpus", hint=hint)
    found = COLLECTIONS[collection](part, data)
    if not found:
        raise DataError(
            f"there is no parallel corpus {name!r} in {places(data)}", hint="set CROSSLENS_DATA to a folder that has it"
        )
    return found


def _files(name: str) -> Sides:
    sides: Sides = {}
    for part in name.split(","):
        said = _FILE.fullmatch(part)
        if not said:
            raise DataError(f"{part!r} is no side of a parallel corpus", hint="write it as fr=FILE")
        language, path = said["language"], said["path"]
        if language in sides:
            raise DataError(f"{name} has two files of {language!r}")
        by_id = path.endswith(".conllu")
        sides[language] = partial(load_corpus, part) if by_id else partial(text.read_lines, path, language=language)
    return sides


def _laboratory(part: str, data: str | Path | None) -> Sides:
    every, laboratory = find_lab(part)
    if every != "all":
        return {}
    preset = part.removeprefix(every)
    return {language: partial(load_corpus, f"{LAB}/{language}{preset}") for language in laboratory.languages}


def _treebanks(part: str, data: str | Path | None) -> Sides:
    banks = find_corpora("ud", f"*_{part}", data)
    return {bank.partition("_")[0]: partial(load_corpus, f"ud/{bank}", data=data) for bank in banks}


def _tatoeba(part: str, data: str | Path | None) -> Sides:
    for file in _lying("tatoeba", "tatoeba.*-eng.eng", data):
        code = file.name.split(".")[1].removesuffix("-eng")
        if part in (code, language_tag(code)):
            sides = (("en", file), (language_tag(code), file.with_suffix(f".{code}")))
            return {language: partial(text.read_lines, path, language=language) for language, path in sides}
    return {}


def _sib200(part: str, data: str | Path | None) -> Sides:
    found = {}
    for file in _lying("sib200", f"*/{part}.tsv", data):
        language, name = language_tag(file.parent.name), f"sib200/{file.parent.name}:{part}"
        found[language] = partial(tsv.read, file, layout=tsv.SIB200, name=name, language=language)
    return found


def _xnli(part: str, data: str | Path | None) -> Sides:
    files = _lying("xnli", f"{part}-*.tsv", data)
    return {language: partial(_hypotheses, file, language) for file in files if (language := file.stem.split("-")[-1])}


def _hypotheses(file: Path, language: str) -> Corpus:
    corpus = tsv.read(file, layout=tsv.XNLI, name=f"xnli/{file.stem}", language=language)
    return replace(corpus, items=tuple(replace(pair, segments=pair.segments[1:]) for pair in corpus.texts))


def _lying(collection: str, pattern: str, data: str | Path | None) -> list[Path]:
    """The files of a collection, in the first folder that has any: two folders' are never mixed."""
    found = (sorted((root.folder / collection).glob(pattern)) for root in roots(data))
    return next((files for files in found if files), [])


COLLECTIONS: dict[str, Callable[[str, str | Path | None], Sides]] = {
    "ud": _treebanks,
    "tatoeba": _tatoeba,
    "sib200": _sib200,
    "xnli": _xnli,
    LAB: _laboratory,
}
"""Collection -> the sides of one of its corpora. A new one is one row, and a reader if its format is new."""
