"""Load corpora by name: ``ud/en_ewt:train``, ``uner/fr_pud``, ``wikiann/en:train[:200]``, a path, or ``wo=PATH``.

Names are looked up in the given data folder, then in ``CROSSLENS_DATA``, then in the user's cache, then in the cache of
the library ``datasets`` (`crosslens.corpora.hugging_face`). Collections keep their published layout
(`crosslens.corpora.collection`); ``sample/fr`` is shipped. ``raw/en`` is raw text, from ``raw/en.txt``.

``lab/sov`` is an artificial language (`crosslens.lab`), generated on demand with the preset ``good``;
``lab/sov_no_anchors`` uses the preset ``no-anchors``. ``lab_topics/sov`` has documents with topics, ``lab_pairs/sov``
pairs for inference, and ``lab_langid/all`` sentences of all languages, labelled with their language.

``ud/en_ewt[:500]+ud/wo_wtb[:50]`` joins two corpora into one. Suffixes select and transliterate:

    [:200]                     the first 200 sentences
    [7~:200], [7~200:]         the first 200 after shuffling with seed 7, and the remaining ones
    [upos], [heads]            the sentences with this annotation, in treebanks that are annotated in part
    @uroman, @uyghur-latin     the corpus in another script (`crosslens.data.transliteration`)
"""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any, TypeGuard

import langcodes
import numpy as np
import platformdirs
from langcodes.tag_parser import LanguageTagError

from crosslens.corpora import hugging_face
from crosslens.corpora.collection import (
    COLLECTIONS,
    OWN_TAGS,
    SPLITS,
    Files,
    has_default_script,
    is_same_language,
    read_treebank,
    tag_or_none,
)
from crosslens.data.corpus import JOIN, SELECTIONS, Corpus, trained_languages
from crosslens.data.formats import (
    CONLLU,
    FORMATS,
    IOB2,
    LABELLED,
    PARTLY_LABELLED,
    TSV,
    Format,
    arrow,
    iob,
    text,
    to_complete,
)
from crosslens.data.objects import corpus_of, has_columns
from crosslens.data.sentence import Text
from crosslens.data.transliteration import transliterate
from crosslens.digests import stream_seed
from crosslens.errors import DataError, RequestError, require_known, suggest, suggest_beside, warn
from crosslens.formatting import counted
from crosslens.lab.laboratory import DEFAULT_PRESET, Laboratory
from crosslens.lab.presets import find_laboratory

RAW = "raw"
LAB = "lab"
LABS = {LAB: "corpus", f"{LAB}_topics": "documents", f"{LAB}_pairs": "pairs", f"{LAB}_langid": "labelled"}
"""Collection of artificial languages -> method of `Laboratory` that generates it."""

_SHIPPED = Path(__file__).parents[1] / "demo"
"""Folder of crosslens itself that has the collection ``sample``."""

_TAG = r"[a-z]{2,3}(?:-\w+)*"
IN_LANGUAGE = re.compile(rf"(?P<language>{_TAG})=(?P<path>.+)\Z", re.ASCII)
"""A path with its language, such as ``wo=my.txt``."""

_NAME = re.compile(r"(?P<collection>[a-z]\w*)/(?P<corpus>[\w*?-]+)(?::(?P<split>\w+))?\Z", re.ASCII)
_SLICE = re.compile(r"(?P<name>.+)\[(?:(?P<seed>\d+)~)?(?P<begin>\d*):(?P<end>\d*)\]\Z")
_SELECTION = re.compile(rf"(?P<name>.+)\[(?P<selection>{'|'.join(SELECTIONS)})\]\Z")
_SCHEME = re.compile(r"(?P<name>.+)(?P<scheme>@[^@]+)\Z")


_JOINED = "join training corpora with +, as in one.conllu+ud/en_ewt:train; in Python, test corpora are a list"


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of a corpus, optionally after shuffling.

    Attributes:
        end: last item, exclusive.
        seed: random seed for shuffling; None keeps the order.
    """

    begin: int | None = None
    end: int | None = None
    seed: int | None = None

    def of(self, corpus: Corpus) -> Corpus:
        """Select the slice of a corpus."""
        selected = slice(self.begin, self.end)
        if self.seed is None:
            return corpus[selected]
        order = np.random.default_rng(stream_seed(self.seed, "shuffled")).permutation(len(corpus))
        return replace(corpus, items=tuple(corpus.items[i] for i in order[selected]))


@dataclass(frozen=True, slots=True)
class Root:
    """A data folder.

    Attributes:
        given_by: source of the path: ``--data``, ``CROSSLENS_DATA``, ``cache``, ``Hugging Face`` or ``shipped``.
    """

    folder: Path
    given_by: str

    def describe(self) -> str:
        """Describe the folder and its number of corpora in one line."""
        if not self.folder.is_dir():
            return f"{self.folder} ({self.given_by}; no such folder)"
        count = sum(len({name for name, _ in _files(collection, self.folder)}) for collection in COLLECTIONS)
        return f"{self.folder} ({self.given_by}; {counted(count, 'corpus', 'corpora')})"


def roots(data: str | Path | None = None) -> list[Root]:
    """Data folders, in search order.

    Raises:
        RequestError: if ``data`` is given and is not a folder, so that no other folder is read by mistake.
    """
    if data is not None and not Path(data).is_dir():
        raise RequestError(f"the data folder {str(data)!r} does not exist")
    folders = [Root(Path(data), "--data")] if data is not None else []
    if os.environ.get("CROSSLENS_DATA"):
        folders.append(Root(Path(os.environ["CROSSLENS_DATA"]), "CROSSLENS_DATA"))
    folders.append(Root(cache_folder(), "cache"))
    downloads = hugging_face.cache_folder()
    if downloads.is_dir():
        folders.append(Root(downloads, "Hugging Face"))
    return [*folders, Root(_SHIPPED, "shipped")]


def places(data: str | Path | None = None) -> str:
    """Data folders in search order, as listed in error messages, without the shipped one."""
    return ", ".join(f"{root.folder} ({root.given_by})" for root in roots(data) if root.folder != _SHIPPED)


def absent(what: str, data: str | Path | None, *, get: str = "", more: str = "") -> DataError:
    """The error for what no data folder has; ``get`` is a way to get it."""
    hint = f"set CROSSLENS_DATA to the folder that contains it{f', or {get}' if get else ''}{more}"
    return DataError(f"{what} not found in {places(data)}", hint=hint)


def cache_folder() -> Path:
    """The user's cache folder of downloaded corpora."""
    return Path(platformdirs.user_cache_dir("crosslens", appauthor=False)) / "data"


CorpusLike = Corpus | str | Path | Mapping[str, Any] | Iterable[Any]
"""What `load_corpus` takes. Data frames and data sets are iterable."""


def load_corpus(
    name: CorpusLike,
    *,
    split: str = "test",
    language: str | None = None,
    data: str | Path | None = None,
    format: Format | None = None,
) -> Corpus:
    """Read a corpus, or make one of texts, words or a table.

    Args:
        name: name such as ``ud/en_ewt:train`` or ``uner/en_ewt:dev``, or a path, optionally with a language as in
            ``wo=my.conllu``; with an optional slice such as ``[:200]`` or selection of annotated sentences such as
            ``[upos]``; or several joined by ``+``. ``.conllu`` files
            are CoNLL-U; ``.txt`` files have one sentence per line with words separated by spaces, one word and IOB tag
            per line, or, for tasks that read texts, one text per line; ``.tsv``,
            ``.csv`` and ``.jsonl`` files have labelled texts (`crosslens.data.formats.rows`); all others have IOB tags
            (`crosslens.data.formats.iob`). Also a list of texts, a list of lists of words, or a table with the columns
            ``text`` and ``label`` (or ``premise``, ``hypothesis`` and ``label``): a data frame, a mapping of columns,
            or a `datasets.Dataset`. A `Corpus` is returned unchanged, with ``language`` if it has none.
        split: default split for names without one.
        language: BCP 47 tag of texts, words, a table or a file; the names of corpora tell theirs.
        data: data folder to search first.
        format: format of a task, used for files with its extension.

    Returns:
        The corpus, with language and split if known.

    Raises:
        RequestError: if the name is empty, the transliteration is unknown or changes nothing, ``language`` is not a tag
            or given for a corpus that has one, or several names are given, or files by language.
        DataError: if the corpus is not found, the slice is empty, or a file or object cannot be read.

    Examples:
        >>> corpus = xl.load_corpus("ud/en_ewt:train[:40]", data=sample)
        >>> len(corpus), corpus.language, corpus.sentences[0].words[:4]
        (40, 'en', ('Al', '-', 'Zaman', ':'))
        >>> xl.load_corpus("sample/fr[:10]").words
        277
        >>> reviews = xl.load_corpus({"text": ["Bien !", "Nul."], "label": ["good", "bad"]}, language="fr")
        >>> reviews[1].label, reviews.language
        ('bad', 'fr')
    """
    if language is not None:
        require_tag(language)
    if isinstance(name, Corpus):
        if name.language is not None and language not in (None, name.language):
            raise _has_language(name.name, language)
        return name if language in (None, name.language) else replace(name, language=language)
    if _names_by_language(name):
        tag, file = next(iter(name.items()))
        raise RequestError(
            "load_corpus reads one corpus, not a mapping of languages to files",
            hint=f"read each: load_corpus({str(file)!r}, language={tag!r})",
        )
    if (
        isinstance(name, list | tuple)
        and name
        and all(isinstance(n, str) and _match_name(split_name(n)[0]) for n in name)
    ):
        raise RequestError(f"the list of {name[0]!r} has names of corpora, not texts", hint=_JOINED)
    if not isinstance(name, str | Path):
        incomplete = format in PARTLY_LABELLED
        return corpus_of(name, pairs=format is TSV or incomplete, incomplete=incomplete, language=language)
    if not (name := str(name)):
        raise RequestError("a corpus has a name or a file, and this name is empty", hint="`crosslens list corpora`")
    if language is not None and not IN_LANGUAGE.match(name) and _match_name(split_name(name)[0]) is None:
        name = JOIN.join(f"{language}={part}" for part in split_joined(name))
    elif language is not None:
        raise _has_language(name, language)
    parts = split_joined(name)
    return reduce(add, (_load_part(part, split=split, data=data, format=format) for part in parts))


def _load_part(
    name: str, *, split: str, data: str | Path | None, format: Format | None, layers: tuple[str, ...] = ()
) -> Corpus:
    """Load a corpus that is not joined; sentences are without those of the layers that only some words have."""
    bare, cut = split_slice(name)
    of, scheme = split_scheme(bare)
    unselected, selection = split_selection(bare)
    again = partial(_load_part, split=split, data=data, format=format)
    if scheme:
        whole = selected = transliterate(again(of, layers=layers), scheme[1:])
    elif selection:
        bare, needed = unselected, SELECTIONS[selection]
        whole = again(bare, layers=(*layers, *needed))
        selected = replace(
            whole,
            items=tuple(item for item in whole.sentences if all(getattr(item, layer) is not None for layer in needed)),
        )
    else:
        named = _match_name(bare)
        whole = selected = (
            _load_match_name(bare, named, split, data, layers) if named else _load_path(bare, format, layers)
        )
    corpus = replace(cut.of(selected), name=whole.name + name.removeprefix(bare))
    if not len(corpus):
        raise DataError(f"{name} selects no sentences: {bare} has {len(whole)}")
    return corpus


def require_tag(language: object) -> None:
    """Check that the language of a file or of texts is written as a tag; joined languages are several tags.

    Raises:
        RequestError: for another text or object.
    """
    tags = trained_languages(language) if isinstance(language, str) else ()
    if not tags or not all(re.fullmatch(_TAG, tag, re.ASCII) for tag in tags):
        raise RequestError(f"{language!r} is not a language tag", hint="write for example wo, zh-Hant or en-US")


def _has_language(name: str, language: str | None) -> RequestError:
    return RequestError(f"{name} has a language of its own", hint=f"leave out language={language!r}")


def load_corpora(names: CorpusLike, *, data: str | Path | None = None, format: Format | None = None) -> list[Corpus]:
    """Load one corpus, or each of several; names may be patterns such as ``ud/*_pud``, and what is named twice is
    returned once.

    Args:
        names: a corpus as `load_corpus` takes it, several, or a mapping of languages to files or names.

    Raises:
        RequestError: as `load_corpus`.
        DataError: as `load_corpus`, and if nothing matches a pattern.
    """
    if _names_by_language(names):
        files = {language: str(file) for language, file in names.items()}
        names = [file if named_language(file) == language else f"{language}={file}" for language, file in files.items()]
    several = [names] if isinstance(names, str | Path | Corpus) or has_columns(names) else names
    corpora: list[Corpus] = []
    named: set[tuple[str, str | None]] = set()
    for corpus in several:
        if not isinstance(corpus, str | Path):
            corpora.append(load_corpus(corpus, data=data, format=format))
            continue
        for name in match_corpora(str(corpus), data=data):
            loaded = load_corpus(name, data=data, format=format)
            require_one_language(loaded)
            if (loaded.name, loaded.language) not in named:
                corpora.append(loaded)
                named.add((loaded.name, loaded.language))
    return corpora


def require_one_language(test: Corpus) -> None:
    """Check that a test corpus is not joined from corpora in several languages.

    Raises:
        RequestError: naming the corpus.
    """
    if len(languages := trained_languages(test.language)) > 1:
        raise RequestError(
            f"the test corpus {test.name} is in {len(languages)} languages, and its score would be of none",
            hint="name its parts one by one",
        )


def _names_by_language(names: object) -> TypeGuard[Mapping[str, str | Path]]:
    return isinstance(names, Mapping) and all(isinstance(file, str | Path) for file in names.values())


def load_text(name: str | Path, *, language: str | None = None, data: str | Path | None = None) -> Corpus:
    """Read raw text.

    Args:
        name: ``raw/en`` (``raw/en.txt`` in a data folder); ``lab/src`` (an artificial language); or a path, optionally
            with a language as in ``wo=my.txt``. ``raw/en[:1000]`` selects the first 1000 lines.
        language: BCP 47 tag, if the name has none, or a more exact one, such as ``zh-Hant`` for ``raw/zh``.

    Raises:
        DataError: if the text is not found, cannot be read or is a treebank.
        RequestError: if the name has another language than ``language``.
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
    if match := IN_LANGUAGE.match(name):
        warn_of_other_code(match["language"])
        language = _agreed(language, match["language"], name)
        return load_text(match["path"], language=language, data=data)
    collection, _, part = name.partition("/")
    if collection == LAB and not Path(name).is_file():
        tag, laboratory = find_lab(part)
        return Corpus(tuple(Text((line,)) for line in laboratory.text(tag)), name, _agreed(language, tag, name))
    if collection == RAW and not Path(name).is_file():
        language = _agreed(language, tag_or_none(part), name)
        return replace(text.read(_raw_file(part, data), language=language), name=name)
    if Path(name).suffix == CONLLU.ending:
        raise DataError(
            "is a treebank, not raw text", file=name, hint="write its text, a sentence a line, to a .txt file"
        )
    return text.read(name, language=language)


def _agreed(given: str | None, own: str | None, name: str) -> str | None:
    """The language given with a name of text, or else the name's own.

    Raises:
        RequestError: if both are given, and are not one language.
    """
    if given is None or own is None:
        return given or own
    if not is_same_language(given, own):
        raise RequestError(
            f"{name} is text in {own}, and not in {given}", hint="name another text, or this file by its path"
        )
    return given


def names_text(name: str) -> bool:
    """Whether a name is that of raw text, rather than of a treebank or an IOB file, which may end in ``.txt``, too.

    >>> [names_text(name) for name in ("raw/wol[:9]", "wo=my.txt", "ud/wo_wtb", "my.conllu")]
    [True, True, False, False]
    """
    bare, _ = split_name(name)
    path = _path(bare)
    return bare.startswith(f"{RAW}/") or (path.suffix == ".txt" and not (path.is_file() and iob.is_iob(path)))


def check_text(name: str, *, data: str | Path | None = None) -> None:
    """Check that raw text is there, without reading it.

    Raises:
        DataError: if it is not.
    """
    path = _path(split_name(name)[0])
    collection, _, part = str(path).partition("/")
    if path.exists() or collection == LAB:
        return
    if collection != RAW:
        raise DataError(f"file {str(path)!r} not found", hint=suggest_beside(path, otherwise="check the path"))
    _raw_file(part, data)


def _path(name: str) -> Path:
    """Path of a file, without the language before it."""
    tagged = IN_LANGUAGE.match(name)
    return Path(tagged["path"] if tagged else name)


def _raw_file(part: str, data: str | Path | None) -> Path:
    files = [root.folder / RAW / f"{part}.txt" for root in roots(data)]
    path = next((file for file in files if file.is_file()), None)
    if path is None:
        raise absent(f"raw text '{RAW}/{part}'", data)
    return path


def split_joined(name: str) -> tuple[str, ...]:
    """Split the name of corpora that are joined by ``+``; existing files with ``+`` in their names are not split.

    >>> split_joined("ud/en_ewt[:500]+wo=my.conllu"), split_joined("ud/en_ewt")
    (('ud/en_ewt[:500]', 'wo=my.conllu'), ('ud/en_ewt',))
    """
    parts = tuple(name.split(JOIN))
    joined = len(parts) > 1 and all(parts) and not _path(split_name(name)[0]).exists()
    return parts if joined else (name,)


def split_slice(name: str) -> tuple[str, Slice]:
    """Split a corpus name from its slice; without one, the slice is the whole corpus.

    Existing files whose names end like a slice are not split.

    >>> split_slice("ud/en_ewt[7~:200]")
    ('ud/en_ewt', Slice(begin=None, end=200, seed=7))
    """
    sliced = _SLICE.match(name)
    if not sliced or _path(name).is_file():
        return name, Slice()
    begin, end, seed = (int(sliced[part]) if sliced[part] else None for part in ("begin", "end", "seed"))
    return sliced["name"], Slice(begin, end, seed)


def split_selection(name: str) -> tuple[str, str]:
    """Split a corpus name from what selects its annotated sentences; existing files are not split.

    >>> split_selection("my.conllu[upos]"), split_selection("ud/en_ewt")
    (('my.conllu', 'upos'), ('ud/en_ewt', ''))
    """
    match = _SELECTION.match(name)
    if not match or _path(name).exists():
        return name, ""
    return match["name"], match["selection"]


def split_scheme(name: str) -> tuple[str, str]:
    """Split a corpus name from its transliteration; existing files with ``@`` in their names are not split.

    >>> split_scheme("ud/ug_udt@uroman")
    ('ud/ug_udt', '@uroman')
    """
    scheme = _SCHEME.match(name)
    if not scheme or _path(name).exists():
        return name, ""
    return scheme["name"], scheme["scheme"]


def split_name(name: str) -> tuple[str, str]:
    """Split a corpus name from its transliterations and remove all slices and selections of annotated sentences.

    >>> split_name("ud/ug_udt[upos][:200]@uroman[:9]"), split_name("lab/sov@latin-cyrillic@cyrillic-latin")
    (('ud/ug_udt', '@uroman'), ('lab/sov', '@latin-cyrillic@cyrillic-latin'))
    """
    bare, suffixes = _split_suffixes(name)
    return bare, "".join(suffix for suffix in suffixes if suffix.startswith("@"))


def _split_suffixes(name: str) -> tuple[str, list[str]]:
    """Split a corpus name from its slices, selections and transliterations, in the order in which they are written."""
    for split in (split_slice, split_selection, split_scheme):
        if (of := split(name)[0]) != name:
            bare, suffixes = _split_suffixes(of)
            return bare, [*suffixes, name.removeprefix(of)]
    return name, []


def match_corpora(pattern: str, *, data: str | Path | None = None) -> list[str]:
    """Expand a pattern to corpus names; other names are returned unchanged.

    ``ud/*_pud`` matches every PUD treebank, ``xnli/*:dev[:1500]`` the same rows of every language.

    Raises:
        DataError: if nothing matches.
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


def check_corpus(pattern: str, *, split: str = "test", data: str | Path | None = None) -> None:
    """Check that a corpus, or one that matches a pattern, is there, without reading it.

    Raises:
        DataError: if it is not.
    """
    if len(parts := split_joined(pattern)) > 1:
        for part in parts:
            check_corpus(part, split=split, data=data)
        return
    bare, _ = split_name(pattern)
    named = _match_name(bare)
    if named is None:
        path = _path(bare)
        if not path.exists():
            raise DataError(f"file {str(path)!r} not found", hint=suggest_beside(path, otherwise="check the path"))
    elif named["collection"] not in LABS:
        split = named["split"] or split
        if not find_corpora(named["collection"], named["corpus"], data, split=split):
            raise _missing(named["collection"], named["corpus"], split, data)


def list_corpora(data: str | Path | None = None) -> dict[str, list[str]]:
    """List all available corpora: name -> splits."""
    splits: dict[str, set[str]] = {}
    for root in roots(data):
        for name in COLLECTIONS:
            for corpus, split in _files(name, root.folder):
                splits.setdefault(f"{name}/{corpus}", set()).add(split)
    splits |= {f"{lab}/{language}": set(SPLITS) for lab in LABS for language in find_laboratory().languages}
    return {name: [split for split in SPLITS if split in splits[name]] for name in sorted(splits)}


def name_split(name: str, split: str) -> str:
    """Name another split of the same corpus: whole, but in the same script and with the same annotation.

    >>> name_split("ud/en_ewt:train[:200]", "dev"), name_split("ud/en_ewt+ud/wo_wtb[upos][:50]", "dev")
    ('ud/en_ewt:dev', 'ud/en_ewt:dev+ud/wo_wtb:dev[upos]')

    Raises:
        DataError: for a path, which has no other splits.
    """
    if len(parts := split_joined(name)) > 1:
        return JOIN.join(name_split(part, split) for part in parts)
    bare, suffixes = _split_suffixes(name)
    named = _match_name(bare)
    if not named:
        raise DataError(
            f"{name} is a path, so its {split} data must be given too",
            hint=f"give {split} data as well, or set select=last and schedule=linear, as the recipe small does",
        )
    kept = (suffix for suffix in suffixes if not _SLICE.match(bare + suffix))
    return f"{named['collection']}/{named['corpus']}:{split}{''.join(kept)}"


def named_language(name: str) -> str | None:
    """Language that the name of a corpus tells, whether the corpus is there or not; None for a path without one.

    >>> named_language("ud/en_ewt:train[:200]"), named_language("mldoc/german")
    ('en', 'de')
    """
    bare, _ = split_name(name)
    if tagged := IN_LANGUAGE.match(bare):
        return tagged["language"]
    named = _match_name(bare)
    if named is None or named["collection"] in LABS or set(named["corpus"]) & set("*?"):
        return None
    return COLLECTIONS[named["collection"]].language(named["corpus"])


def _files(collection: str, folder: Path) -> Files:
    """Files of a collection in a data folder: in its published layout, else from the library ``datasets``."""
    return hugging_face.find_files(collection, folder) | COLLECTIONS[collection].files(folder)


def _match_name(name: str) -> re.Match | None:
    """Match the name of a corpus in a collection; None for a path."""
    named = _NAME.match(name)
    return named if named and (named["collection"] in LABS or named["collection"] in COLLECTIONS) else None


def find_lab(name: str) -> tuple[str, Laboratory]:
    """Find the artificial language and its laboratory: ``sov``, or ``sov_no_anchors`` for the preset ``no-anchors``."""
    language, _, preset = name.partition("_")
    return language, find_laboratory(preset.replace("_", "-") or DEFAULT_PRESET)


def _load_match_name(
    name: str, named: re.Match, split: str, data: str | Path | None, layers: tuple[str, ...]
) -> Corpus:
    collection, corpus, split = named["collection"], named["corpus"], named["split"] or split
    require_known(split, SPLITS, f"{name}: unknown split", error=DataError)
    if collection in LABS:
        language, laboratory = find_lab(corpus)
        return getattr(laboratory, LABS[collection])(language, split=split)
    row = COLLECTIONS[collection]
    for root in roots(data):
        path = _files(collection, root.folder).get((corpus, split))
        if path is not None:
            read = arrow.read if path.suffix == arrow.ENDING else row.read
            if read is read_treebank:
                read = partial(read_treebank, incomplete=layers)
            return read(path, name=f"{collection}/{corpus}:{split}", language=row.language(corpus), split=split)
    raise _missing(collection, corpus, split, data)


def _load_path(name: str, format: Format | None, layers: tuple[str, ...]) -> Corpus:
    tagged, path = IN_LANGUAGE.match(name), _path(name)
    incomplete = format in PARTLY_LABELLED
    reads_texts = incomplete or format in LABELLED
    if not path.exists():
        if _NAME.match(name):
            collection = name.partition("/")[0]
            if collection == RAW:
                raise DataError(
                    f"{name!r} is raw text without words",
                    hint=f"give a corpus of words; `crosslens predict MODEL {name} --split-words --out FILE` tags it",
                )
            raise DataError(f"{name!r}: unknown collection {collection!r}", hint=suggest(collection, COLLECTIONS))
        if name.startswith(tuple(f"{collection}/" for collection in COLLECTIONS)):
            hint = _JOINED if "," in name else "write for example ud/en_ewt:train[:200]"
            raise DataError(f"{name!r} is not a valid corpus name", hint=hint)
        if path.is_symlink():
            raise DataError(f"corpus file {str(path)!r} is a symbolic link that leads nowhere")
        hint = suggest_beside(path, otherwise="give a file, or a name such as ud/en_ewt:train")
        if "=" in name and not tagged:
            hint = "give the language as a tag, such as wo=FILE for Wolof"
        elif tagged and _match_name(split_name(tagged["path"])[0]):
            hint = f"{tagged['path']} is a corpus with a language of its own: write it without {tagged['language']}="
        elif "," in name:
            hint = _JOINED
        elif " " in name.strip() and not path.suffix:
            given = repr(name) if reads_texts else f"[{', '.join(map(repr, name.split()[:2]))}, …]"
            hint = f"to pass text, write a list: [{given}], or a .txt file"
        raise DataError(f"corpus file {str(path)!r} not found", hint=hint)
    if tagged:
        warn_of_other_code(tagged["language"])
    parts = re.fullmatch(r"([a-z]{2,3})_\w+-ud-(train|dev|test)\.(?:conllu|iob2)", path.name)
    language = tagged["language"] if tagged else COLLECTIONS["ud"].language(parts[1]) if parts else None
    split = parts[2] if parts else None
    ending = path.suffix.lower()
    if format is None or incomplete or ending != format.ending:
        if ending == ".txt" and reads_texts:
            return text.read(path, language=language)
        if ending == ".txt" and not iob.is_iob(path):
            return text.read_words(path, name=str(path), language=language)
        format = CONLLU if path.is_dir() else FORMATS.get(ending, IOB2)
    if format is TSV and iob.is_iob(path):
        format = IOB2
    if format is CONLLU or (incomplete and format in LABELLED):
        format = to_complete(format, layers)
    return format.read(path, name=str(path), language=language, split=split)


def warn_of_other_code(code: str) -> None:
    """Warn of a code for which collections have another one; it is kept because ids of similarity contain it."""
    with suppress(LanguageTagError):
        standard = OWN_TAGS.get(code) or langcodes.standardize_tag(code)
        language = langcodes.Language.get(standard)
        if has_default_script(language):
            standard = langcodes.Language.make(language=language.language, territory=language.territory).to_tag()
        if standard != code:
            warn(
                f"{code}=FILE counts as another language than {standard}, the BCP 47 tag of collections:"
                f" write {standard}=FILE"
            )


def _missing(collection: str, corpus: str, split: str, data: str | Path | None) -> DataError:
    known = list_corpora(data)
    name = f"{collection}/{corpus}"
    if collection in LABS:
        return DataError(f"corpus {name!r} not found", hint=suggest(name, known))
    if name in known:
        return DataError(f"{name} has no {split} split", hint=f"available: {', '.join(known[name])}")
    alike = [other for other in known if other.startswith(f"{collection}/")]
    suggestion = f"; {suggest(name, alike)}" if alike else ""
    return absent(f"corpus {name!r}", data, get=COLLECTIONS[collection].get, more=suggestion)


def find_corpora(collection: str, pattern: str, data: str | Path | None, *, split: str = "test") -> list[str]:
    """Find the corpora that match a pattern, all from the first data folder with any match."""
    for root in roots(data):
        files = _files(collection, root.folder)
        matches = sorted({name for name, part in files if part == split and fnmatchcase(name, pattern)})
        if matches:
            return matches
    return []
