"""Load parallel corpora by name: ``ud/pud``, ``tatoeba/fr``, ``xnli/dev[:1500]``, ``en=a.txt,fr=b.txt``.

`crosslens.corpora.collection` lists the parallel corpora and the layout of their files. ``lab/all`` has all artificial
languages. Files are given with their languages, as in ``en=dev.en,wo=dev.wo``, and aligned by line, or by sentence id
if they end in ``.conllu``.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from crosslens.corpora.catalogue import (
    IN_LANGUAGE,
    LAB,
    absent,
    find_lab,
    load_corpus,
    require_tag,
    roots,
    split_slice,
    warn_of_other_code,
)
from crosslens.corpora.collection import COLLECTIONS, Collection, Sides
from crosslens.data.corpus import Corpus
from crosslens.data.formats import text
from crosslens.data.objects import column_names, column_values, has_columns
from crosslens.data.parallel import Parallel, join
from crosslens.errors import DataError, RequestError, require_known

ParallelLike = Parallel | str | Mapping[str, Any]
"""What `load_parallel` takes. Data frames and Arrow tables are mappings of columns, too."""


def load_parallel(
    name: ParallelLike, *, languages: Sequence[str] | None = None, data: str | Path | None = None
) -> Parallel:
    """Read a parallel corpus and align it by id.

    Args:
        name: name such as ``ud/pud``; a slice such as ``[:100]`` selects the first items of every language. A
            `Parallel` is returned unchanged. Also a mapping of languages to texts, sentences or files, or a data frame
            with a column for each language; the n-th items are translations.
        languages: languages to read; None reads all.
        data: data folder to search first.

    Returns:
        One corpus per language, aligned item by item.

    Raises:
        RequestError: for another object, or if a column of a mapping or data frame is not named by a language tag.
        DataError: if the corpus or a language is not found, the slice is empty, or ids differ.

    Examples:
        >>> xl.load_parallel({"en": ["A cat.", "A dog."], "fr": ["Un chat.", "Un chien."]})
        Parallel given text: 2 items in en, fr
        >>> parallel = xl.load_parallel("ud/pud", languages=["en", "fr"], data=sample)
        >>> parallel.languages, len(parallel.corpora["fr"])
        (('en', 'fr'), 100)
    """
    if isinstance(name, Parallel):
        return name
    if not isinstance(name, str):
        sides = list(_given(name, languages))
        if len({len(side) for side in sides}) > 1:
            lengths = ", ".join(f"{side.language} {len(side):,}" for side in sides)
            raise DataError(f"the given text is not parallel: the languages differ in items: {lengths}")
        return join(sides, name="given text")
    bare, cut = split_slice(name)
    sides = _sides(bare, data)
    for language in languages or ():
        require_known(language, sides, f"{name} does not contain language", error=DataError)
    joined = join((cut.of(sides[language]()) for language in sorted(languages or sides)), name=name)
    if bare != name and not len(joined):
        whole = load_parallel(bare, languages=languages, data=data)
        raise DataError(f"{name} selects no items: {bare} has {len(whole)}")
    return joined


def list_languages(name: str, *, data: str | Path | None = None) -> tuple[str, ...]:
    """List the languages of a parallel corpus, sorted, without reading it.

    Raises:
        DataError: if the corpus is not found.
    """
    return tuple(sorted(_sides(split_slice(name)[0], data)))


def _sides(name: str, data: str | Path | None) -> Sides:
    if "=" in name:
        return _files(name)
    collection, _, part = name.partition("/")
    known = collection == LAB or (collection in COLLECTIONS and COLLECTIONS[collection].sides is not None)
    if not known or not re.fullmatch(r"[\w-]+", part):
        parallel = (*(name for name, collection in COLLECTIONS.items() if collection.sides), LAB)
        available = ", ".join(f"{name}/…" for name in parallel)
        hint = f"for example ud/pud, every PUD treebank; there are {available}, and en=FILE,fr=FILE"
        raise DataError(f"{name!r} is not the name of a parallel corpus", hint=hint)
    sides = _laboratory(part) if collection == LAB else _published(COLLECTIONS[collection], part, data)
    if not sides and collection == LAB:
        raise DataError(f"{name!r} is one language", hint="lab/all has the sentences of all artificial languages")
    if not sides:
        raise absent(f"parallel corpus {name!r}", data, get=COLLECTIONS[collection].get)
    return sides


def _published(collection: Collection, part: str, data: str | Path | None) -> Sides:
    """Sides of a published corpus, all from the first data folder with any."""
    assert collection.sides is not None
    return next((sides for root in roots(data) if (sides := collection.sides(root.folder, part))), {})


def _given(columns: Any, languages: Sequence[str] | None) -> Iterator[Corpus]:
    """The sides of a mapping or data frame."""
    if not has_columns(columns):
        raise RequestError(
            f"{columns!r:.60} is not a parallel corpus",
            hint='give a name such as ud/pud, or texts by language, such as {"en": […], "fr": […]}',
        )
    known = column_names(columns)
    for language in languages or known:
        require_known(language, known, "the given text does not contain language", error=DataError)
        side = columns[language]
        if isinstance(side, str | Path):
            require_tag(language)
            yield _file(str(side), language)()
        else:
            yield load_corpus(side if isinstance(side, Corpus) else column_values(side), language=language)


def _files(name: str) -> Sides:
    sides: Sides = {}
    for part in name.split(","):
        tagged = IN_LANGUAGE.match(part)
        if not tagged:
            raise DataError(f"{part!r} does not name a language and a file", hint="write each side as fr=FILE")
        language, path = tagged["language"], tagged["path"]
        if language in sides:
            raise DataError(f"{name} names two files for {language!r}")
        sides[language] = _file(path, language)
    return sides


def _file(path: str, language: str) -> Callable[[], Corpus]:
    """Read one side from a file: a treebank aligned by the ids of its sentences, or text aligned by line."""
    if path.endswith(".conllu"):
        return partial(load_corpus, f"{language}={path}")
    return partial(_read_lines, path, language)


def _read_lines(path: str, language: str) -> Corpus:
    warn_of_other_code(language)
    return text.read_lines(path, language=language)


def _laboratory(part: str) -> Sides:
    language, laboratory = find_lab(part)
    if language != "all":
        return {}
    preset = part.removeprefix("all")
    return {language: partial(load_corpus, f"{LAB}/{language}{preset}") for language in laboratory.languages}
