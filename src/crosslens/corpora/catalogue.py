"""Corpora by name: ``ud/en_ewt:train``, ``uner/fr_pud``, ``wikiann/en:train[:200]``, or a path, or ``wo=`` and a path.

A name is looked for in the folder that is given, then in ``CROSSLENS_DATA``, then in the user's cache. In a folder each
collection lies as it is published; `crosslens.corpora.collection` says how.

``raw/en`` is raw text, ``raw/en.txt``.

``lab/src`` and its sisters are artificial languages (`crosslens.lab`), made when they are asked for.
``lab_topics/sov`` are documents with their topics, ``lab_pairs/sov`` pairs for inference in them,
``lab_langid/all`` sentences of all with their languages.
``lab/sov`` is a language of the preset ``good``, ``lab/sov_no_anchors`` one of the preset ``no-anchors``.

``[:200]`` behind a name are its first 200 sentences; ``[7~:200]`` the first 200 of the order that the seed 7 shuffles
it into, and ``[7~200:]`` the others.

Behind any of them stands ``@uroman`` or ``@uyghur-latin`` for the same in another script (`data.transliteration`).
"""

import os
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import platformdirs

from crosslens.corpora.collection import COLLECTIONS, SPLITS, language_tag
from crosslens.data.corpus import Corpus
from crosslens.data.formats import CONLLU, FORMATS, IOB2, TSV, Format, iob, text
from crosslens.data.sentence import Text
from crosslens.data.transliteration import transliterate
from crosslens.digests import stream_seed
from crosslens.errors import DataError, suggest
from crosslens.lab.laboratory import DEFAULT_PRESET, Laboratory
from crosslens.lab.presets import find_laboratory

RAW = "raw"
LAB = "lab"
LABS = {LAB: "corpus", f"{LAB}_topics": "documents", f"{LAB}_pairs": "pairs", f"{LAB}_langid": "labelled"}
"""Collections of artificial languages, and what makes them: sentences, documents with topics, pairs for inference,
sentences with their languages."""

_NAME = re.compile(r"(?P<collection>[a-z]\w*)/(?P<corpus>[\w*?]+)(?::(?P<split>\w+))?$", re.ASCII)
_SLICE = re.compile(r"(?P<name>.+)\[(?:(?P<seed>\d+)~)?(?P<begin>\d*):(?P<end>\d*)\]$")
_SCHEME = re.compile(r"(?P<name>.+)(?P<scheme>@[^@]+)$")
_LANGUAGE = re.compile(r"(?P<language>[a-z]{2,3}(?:-\w+)*)=(?P<path>.+)$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of a corpus, optionally after shuffling.

    Attributes:
        begin: the first of them in the order.
        end: one past the last.
        seed: of the order that they are shuffled into first; None: they are in their own.
    """

    begin: int | None = None
    end: int | None = None
    seed: int | None = None

    def of(self, corpus: Corpus) -> Corpus:
        """The selected items of a corpus."""
        part = slice(self.begin, self.end)
        if self.seed is None:
            return corpus[part]
        order = np.random.default_rng(stream_seed(self.seed, "shuffled")).permutation(len(corpus))
        return replace(corpus, items=tuple(corpus.items[i] for i in order[part]))


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
        count = sum(len({name for name, _ in collection.files(self.folder)}) for collection in COLLECTIONS.values())
        return f"{self.folder} ({self.given_by}; {count} corpora)"


def roots(data: str | Path | None = None) -> list[Root]:
    """Where corpora are looked for, in this order."""
    folders = [Root(Path(data), "--data")] if data else []
    if os.environ.get("CROSSLENS_DATA"):
        folders.append(Root(Path(os.environ["CROSSLENS_DATA"]), "CROSSLENS_DATA"))
    return [*folders, Root(cache_folder(), "cache")]


def places(data: str | Path | None = None) -> str:
    """The folders that are looked through, as errors name them."""
    return ", ".join(f"{root.folder} ({root.given_by})" for root in roots(data))


def cache_folder() -> Path:
    """The user's own folder of downloaded corpora."""
    return Path(platformdirs.user_cache_dir("crosslens", appauthor=False)) / "data"


def load_corpus(
    name: str | Path, *, split: str = "test", data: str | Path | None = None, format: Format | None = None
) -> Corpus:
    """Read a corpus.

    Args:
        name: ``ud/en_ewt:train``, ``uner/en_ewt:dev``; a path to a file, perhaps with its language before it as in
            ``wo=my.conllu``; or any of them with a slice such as ``[:200]``. Files that end in ``.conllu`` are that;
            ``.txt`` holds a sentence a line with words between spaces, or a word and its IOB tag a line; ``.tsv``
            labelled texts (`crosslens.data.formats.tsv`); all others hold IOB tags (`crosslens.data.formats.iob`).
        split: the split meant where the name has none.
        data: a folder that is looked through first.
        format: a task's own, in which files with its extension are read.

    Returns:
        The corpus, with its language and split where they are known.

    Raises:
        RequestError: for a transliteration that there is not, or that changes nothing.
        DataError: when there is none of that name: where it was looked for, and how to get it; for a slice that
            leaves nothing; for a file that cannot be read.

    Example:
        >>> corpus = xl.load_corpus("ud/en_ewt:train[:40]", data=sample)
        >>> len(corpus), corpus.language, corpus.sentences[0].words[:4]
        (40, 'en', ('Al', '-', 'Zaman', ':'))
    """
    name = str(name)
    bare, cut = split_slice(name)
    of, scheme = split_scheme(bare)
    named = _match_name(bare)
    if scheme:
        whole = transliterate(load_corpus(of, split=split, data=data, format=format), scheme[1:])
    else:
        whole = _load_match_name(bare, named, split, data) if named else _load_path(bare, format)
    corpus = replace(cut.of(whole), name=whole.name + name.removeprefix(bare))
    if not len(corpus):
        raise DataError(f"{name} selects no sentences: {bare} has {len(whole)}")
    return corpus


def load_text(name: str | Path, *, language: str | None = None, data: str | Path | None = None) -> Corpus:
    """Raw text: ``raw/en``, which is ``raw/en.txt`` in a data folder; ``lab/src``, an artificial language's; a path,
    perhaps with its language before it as in ``wo=my.txt``. ``raw/en[:1000]`` is its first thousand lines.

    Raises:
        DataError: when there is none of that name; for a file that cannot be read.
    """
    bare, cut = split_slice(str(name))
    if bare != str(name):
        whole = load_text(bare, language=language, data=data)
        if not len(cut.of(whole)):
            raise DataError(f"{name} selects no lines: {bare} has {len(whole)}")
        return replace(cut.of(whole), name=str(name))
    of, scheme = split_scheme(bare)
    if scheme:
        return transliterate(load_text(of, language=language, data=data), scheme[1:])
    name = bare
    if match := _LANGUAGE.match(name):
        return load_text(match["path"], language=match["language"], data=data)
    collection, _, part = name.partition("/")
    if collection == LAB and not Path(name).exists():
        tag, laboratory = find_lab(part)
        return Corpus(tuple(Text((line,)) for line in laboratory.text(tag)), name, language or tag)
    if collection == RAW and not Path(name).exists():
        files = [root.folder / RAW / f"{part}.txt" for root in roots(data)]
        path = next((file for file in files if file.is_file()), None)
        if path is None:
            raise DataError(
                f"raw text {name!r} not found in {places(data)}",
                hint="set CROSSLENS_DATA to the folder that contains it",
            )
        return replace(text.read(path, language=language or language_tag(part)), name=name)
    return text.read(name, language=language)


def split_slice(name: str) -> tuple[str, Slice]:
    """Split a corpus name from its slice; without one, the slice is the whole corpus.

    >>> split_slice("ud/en_ewt[7~:200]")
    ('ud/en_ewt', Slice(begin=None, end=200, seed=7))
    """
    sliced = _SLICE.match(name)
    if not sliced:
        return name, Slice()
    begin, end, seed = (int(sliced[part]) if sliced[part] else None for part in ("begin", "end", "seed"))
    return sliced["name"], Slice(begin, end, seed)


def split_scheme(name: str) -> tuple[str, str]:
    """``ud/ug_udt@uroman`` as the name alone and ``@uroman``; a file whose name has such a sign is itself."""
    scheme, tagged = _SCHEME.match(name), _LANGUAGE.match(name)
    if not scheme or Path(tagged["path"] if tagged else name).exists():
        return name, ""
    return scheme["name"], scheme["scheme"]


def split_name(name: str) -> tuple[str, str]:
    """``ud/ug_udt[:200]@uroman[:9]`` as the name alone and ``@uroman``, whatever is cut out before or behind it."""
    of, scheme = split_scheme(split_slice(name)[0])
    return split_slice(of)[0], scheme


def match_corpora(pattern: str, *, data: str | Path | None = None) -> list[str]:
    """The names that a pattern stands for: ``ud/*_pud`` is every PUD treebank, ``xnli/*:dev[:1500]``
    the same rows of every language; any other name is itself.

    Raises:
        DataError: when nothing matches.
    """
    bare, _ = split_name(pattern)
    cut = pattern.removeprefix(bare)
    named = _match_name(bare)
    if not named or not set(named["corpus"]) & set("*?"):
        return [pattern]
    collection, split = named["collection"], named["split"]
    if collection in LABS:
        languages, laboratory = find_lab(named["corpus"])
        preset = named["corpus"].removeprefix(languages)
        matches = [language + preset for language in laboratory.languages if fnmatchcase(language, languages)]
    else:
        matches = find_corpora(collection, named["corpus"], data, split=split or "test")
    if not matches:
        raise _missing(collection, named["corpus"], split or "test", data)
    return [f"{collection}/{corpus}" + (f":{split}" if split else "") + cut for corpus in matches]


def list_corpora(data: str | Path | None = None) -> dict[str, list[str]]:
    """Every corpus found, by name, with its splits."""
    there: dict[str, set[str]] = {}
    for root in roots(data):
        for name, collection in COLLECTIONS.items():
            for corpus, split in collection.files(root.folder):
                there.setdefault(f"{name}/{corpus}", set()).add(split)
    there |= {f"{lab}/{language}": set(SPLITS) for lab in LABS for language in find_laboratory().languages}
    return {name: [split for split in SPLITS if split in there[name]] for name in sorted(there)}


def name_split(name: str, split: str) -> str:
    """The name of another split of the same treebank; a path is itself.

    Raises:
        DataError: for a path, which has no other split.
    """
    bare, scheme = split_name(name)
    named = _match_name(bare)
    if not named:
        raise DataError(f"{name} is a file, so its {split} data must be given too", hint=f"give --{split} as well")
    return f"{named['collection']}/{named['corpus']}:{split}{scheme}"


def _match_name(name: str) -> re.Match | None:
    """A name of a collection's corpus; None for what can only be a path."""
    named = _NAME.match(name)
    return named if named and (named["collection"] in LABS or named["collection"] in COLLECTIONS) else None


def find_lab(name: str) -> tuple[str, Laboratory]:
    """``sov`` or ``sov_no_anchors``: the language, and the laboratory of the preset."""
    language, _, preset = name.partition("_")
    return language, find_laboratory(preset.replace("_", "-") or DEFAULT_PRESET)


def _load_match_name(name: str, named: re.Match, split: str, data: str | Path | None) -> Corpus:
    collection, corpus, split = named["collection"], named["corpus"], named["split"] or split
    if split not in SPLITS:
        raise DataError(f"{name}: unknown split {split!r}", hint=suggest(split, SPLITS))
    if collection in LABS:
        language, laboratory = find_lab(corpus)
        return getattr(laboratory, LABS[collection])(language, split=split)
    row = COLLECTIONS[collection]
    for root in roots(data):
        path = row.files(root.folder).get((corpus, split))
        if path is not None:
            return row.read(path, name=f"{collection}/{corpus}:{split}", language=row.language(corpus), split=split)
    raise _missing(collection, corpus, split, data)


def _load_path(name: str, format: Format | None) -> Corpus:
    tagged = _LANGUAGE.match(name)
    path = Path(tagged["path"] if tagged else name)
    if not path.exists():
        if _NAME.match(name):
            collection = name.partition("/")[0]
            raise DataError(f"{name!r}: unknown collection {collection!r}", hint=suggest(collection, COLLECTIONS))
        if name.startswith(tuple(f"{collection}/" for collection in COLLECTIONS)):
            raise DataError(f"{name!r} is not a valid corpus name", hint="write for example ud/en_ewt:train[:200]")
        raise DataError(f"corpus file {name!r} not found", hint="give a file, or a name such as ud/en_ewt:train")
    parts = re.fullmatch(r"([a-z]{2,3})_\w+-ud-(train|dev|test)\.(?:conllu|iob2)", path.name)
    language = tagged["language"] if tagged else parts[1] if parts else None
    split = parts[2] if parts else None
    if format is None or path.suffix != format.ending or path.suffix in FORMATS:
        if path.suffix == ".txt" and not iob.is_iob(path):
            return text.read_words(path, name=str(path), language=language)
        format = CONLLU if path.is_dir() else FORMATS.get(path.suffix, IOB2)
        if format is TSV and iob.is_iob(path):
            format = IOB2
    return format.read(path, name=str(path), language=language, split=split)


def _missing(collection: str, corpus: str, split: str, data: str | Path | None) -> DataError:
    known = list_corpora(data)
    name = f"{collection}/{corpus}"
    if collection in LABS:
        return DataError(f"corpus {name!r} not found", hint=suggest(name, known))
    if name in known:
        there = ", ".join(known[name])
        return DataError(f"{name} has no {split} split", hint=f"available: {there}")
    near = f"; {suggest(name, known)}" if known else ""
    get = f", or {COLLECTIONS[collection].get}" if COLLECTIONS[collection].get else ""
    return DataError(
        f"corpus {name!r} not found in {places(data)}",
        hint=f"set CROSSLENS_DATA to the folder that contains it{get}{near}",
    )


def find_corpora(collection: str, pattern: str, data: str | Path | None, *, split: str = "test") -> list[str]:
    """The corpora that a pattern matches, in the first folder that has any: two folders' are never mixed."""
    for root in roots(data):
        files = COLLECTIONS[collection].files(root.folder)
        matches = sorted({name for name, part in files if part == split and fnmatchcase(name, pattern)})
        if matches:
            return matches
    return []
