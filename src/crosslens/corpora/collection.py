"""Supported collections of corpora: layout of their files, reader, languages, and parallel corpora.

`crosslens.corpora.catalogue` finds the data folders.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import langcodes
from langcodes.tag_parser import LanguageTagError

from crosslens.corpora import wili
from crosslens.data.corpus import Corpus, trained_languages
from crosslens.data.formats import conll, conllu, iob, rows, text, tsv
from crosslens.data.language_families import bare_language
from crosslens.plugins import Registry

SPLITS = ("train", "dev", "test")
RELEASE = re.compile(r"ud-treebanks-v(\d+(?:\.\d+)*)$")

ANY_RELEASE = "2.14"
"""Release of Universal Dependencies to get where no certain one is asked for."""

SEE_SOURCE = "see source"
"""Stands for a licence that is not known with certainty."""

Files = dict[tuple[str, str], Path]
"""(corpus, split) -> file."""

Sides = dict[str, Callable[[], Corpus]]
"""Language -> function that reads its side of a parallel corpus."""

MLDOC_NAMES = {
    "english": "en",
    "german": "de",
    "spanish": "es",
    "french": "fr",
    "italian": "it",
    "japanese": "ja",
    "russian": "ru",
    "chinese": "zh",
}
"""Language name in MLDoc's file names -> tag."""

CONLL_NAMES = {"eng": "en", "deu": "de", "esp": "es", "ned": "nl"}
"""Language in the file names of the CoNLL shared tasks -> tag."""

CONLL_SPLITS = {"train": "train", "testa": "dev", "testb": "test"}
"""Ending of a file of the CoNLL shared tasks -> split."""


WIKIPEDIA_TAGS = {
    "als": "gsw",
    "bat-smg": "sgs",
    "be-x-old": "be",
    "cbk-zam": "cbk",
    "eml": "egl",
    "fiu-vro": "vro",
    "map-bms": "jv",
    "roa-rup": "rup",
    "simple": "en",
    "zh-classical": "lzh",
    "zh-min-nan": "nan",
    "zh-yue": "yue",
}
"""Code of a Wikipedia that differs from the tag of its language -> tag."""

OWN_TAGS = {"prs": "prs", "prs_Arab": "prs", "twi": "tw", "twi_Latn": "tw", "kmr": "kmr", "kmr_Latn": "kmr"}
"""Code of a language -> its tag, where CLDR would give it another: Dari Persian's, Twi Akan's, and Kurmanji, which has
its own in Universal Dependencies, that of all Kurdish."""


def language_tag(code: str) -> str:
    """Standardise a language code; the script is kept only if it is not the default script of the language.

    >>> [language_tag(code) for code in ("eng_Latn", "english", "cmn")]
    ['en', 'en', 'zh']
    """
    if code in OWN_TAGS:
        return OWN_TAGS[code]
    language = langcodes.Language.get(langcodes.standardize_tag(MLDOC_NAMES.get(code, code), macro=True))
    if language.script is None or has_default_script(language):
        return langcodes.Language.make(language=language.language).to_tag()
    return language.to_tag()


def has_default_script(language: langcodes.Language) -> bool:
    """Whether a tag has the script that its language is in without it, as ``myv-Cyrl``."""
    bare = langcodes.Language.make(language=language.language)
    return language.script in {bare.maximize().script, "Hang" if bare.language == "ko" else None} - {None}


@cache
def is_same_language(first: str, second: str) -> bool:
    """Whether two codes are of one language, whatever their scripts and regions.

    >>> is_same_language("zh-Hant", "cmn"), is_same_language("nb", "no"), is_same_language("nb", "nn")
    (True, True, False)
    """
    language, other = (bare_language(tag_or_none(code) or code) for code in (first, second))
    return language == other or {language, other} == {"nb", "no"}  # Norwegian without a variety is Bokmål in CLDR


def is_trained_language(language: str, source: str | None) -> bool:
    """Whether models trained on a source are trained on a language, in whatever script: transfer is not zero-shot then.

    >>> is_trained_language("ug-Latn", "ug"), is_trained_language("wo", "en+wo"), is_trained_language("wo", "en")
    (True, True, False)
    """
    return any(is_same_language(language, trained) for trained in trained_languages(source))


def tag_or_none(code: str) -> str | None:
    """Tag of a language code, as `language_tag`; None for a name that is not one."""
    try:
        return language_tag(code)
    except LanguageTagError:
        return None


def _first_part(corpus: str) -> str:
    """Language at the beginning of a corpus name: ``en`` of ``en_ewt``, ``wo`` of MasakhaNER's ``wol``."""
    code = corpus.partition("_")[0]
    try:
        return langcodes.standardize_tag(code)
    except LanguageTagError:  # a misspelt name
        return code


def _of_wikipedia(code: str) -> str:
    """Language of a Wikipedia: ``en`` of ``simple``, ``be`` of ``be-x-old``."""
    return _first_part(WIKIPEDIA_TAGS.get(code, code))


def _none(corpus: str) -> None:
    """No single language: the corpus is multilingual."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection of corpora in its published layout.

    Attributes:
        files: function from a data folder to the files of the collection in it.
        read: ``read(path, name=…, language=…, split=…)``, which reads one of these files.
        language: function from a corpus name to its language, or None for a multilingual corpus.
        sides: function from a data folder and a name to the sides of that parallel corpus, empty if not found; None if
            the collection has no parallel corpora.
        get: how to obtain the collection, for error messages.
        licence: licence of the published data; it may differ between corpora.
        published: where the data are published.
    """

    files: Callable[[Path], Files]
    read: Callable[..., Corpus]
    language: Callable[[str], str | None]
    sides: Callable[[Path, str], Sides] | None = None
    get: str = ""
    licence: str = SEE_SOURCE
    published: str = ""


def get_treebanks(*releases: str) -> str:
    """How to get releases of Universal Dependencies, for error messages.

    >>> get_treebanks("1.4", "2.2")
    '`crosslens data get ud --release 1.4` or `crosslens data get ud --release 2.2`'
    """
    return " or ".join(f"`crosslens data get ud --release {release}`" for release in releases)


def _treebanks(folder: Path) -> Files:
    """Universal Dependencies treebanks in any layout, from the newest release that has them."""
    releases = [folder / "ud", folder] if folder.is_dir() else []
    if folder.is_dir():
        unpacked = [child for child in folder.iterdir() if RELEASE.match(child.name)]
        newest_first = sorted(unpacked, key=lambda c: tuple(map(int, c.name[14:].split("."))), reverse=True)
        releases += newest_first
    return _files(
        (file for release in releases for file in sorted(release.glob("UD_*/*"))),
        r"(?P<corpus>\w+)-ud-(?P<split>train|dev|test)\.conllu",
    )


def read_treebank(path: Path, *, name: str, language: str | None, split: str, incomplete: Sequence[str] = ()) -> Corpus:
    """Read a treebank, with its release if the path names it; some layers may be incomplete."""
    release = RELEASE.match(path.parent.parent.name)
    return conllu.read(
        path,
        name=name,
        language=language,
        split=split,
        release=release[1] if release else None,
        incomplete=incomplete,
    )


def _treebank_sides(folder: Path, part: str) -> Sides:
    """Test splits of all treebanks with the same suffix, such as ``pud``."""
    sides: Sides = {}
    for (bank, split), file in sorted(_treebanks(folder).items()):
        if split == "test" and bank.endswith(f"_{part}"):
            name = f"ud/{bank}:test"
            sides[bank.partition("_")[0]] = partial(
                read_treebank, file, name=name, language=_first_part(bank), split=split
            )
    return sides


def _sample(folder: Path) -> Files:
    """Cuts of treebanks that crosslens ships: one corpus for each language, with English training and dev data."""
    splits = {"en_ewt": {"train": "train", "test": "dev"}}
    return {
        (bank.partition("_")[0], splits.get(bank, {}).get(split, split)): file
        for (bank, split), file in _treebanks(folder / "sample").items()
    }


def _sample_sides(folder: Path, part: str) -> Sides:
    """The same sentences in every language."""
    return {
        language: partial(read_treebank, file, name=f"sample/{language}:{split}", language=language, split=split)
        for (language, split), file in _sample(folder).items()
        if split == part == "test"
    }


def _uner(folder: Path) -> Files:
    files = sorted((folder / "uner").glob("UNER_*/*.iob2"))
    return _files(files, r"(?P<corpus>\w+)-ud-(?P<split>train|dev|test)\.iob2")


def _by_language(collection: str, pattern: str) -> Callable[[Path], Files]:
    """A collection with one folder per language and one file per split."""

    def find(folder: Path) -> Files:
        files = sorted((folder / collection).glob(pattern))
        return {(file.parent.name, file.stem): file for file in files if file.stem in SPLITS and file.is_file()}

    return find


def _in_one_folder(collection: str, pattern: str) -> Callable[[Path], Files]:
    """A collection with all files in one folder."""
    return lambda folder: _files(sorted((folder / collection).glob("*")), pattern)


def _whole(collection: str, pattern: str) -> Callable[[Path], Files]:
    """A collection with a single corpus, ``all``."""
    return lambda folder: {
        ("all", split): file
        for split in SPLITS
        if (file := folder / collection / pattern.format(split=split)).is_file()
    }


def _files(files: Iterable[Path], pattern: str) -> Files:
    corpora: Files = {}
    for file in files:
        parts = re.fullmatch(pattern, file.name)
        if parts:
            corpora.setdefault((parts["corpus"], parts["split"]), file)
    return corpora


def _conll(year: str) -> Callable[[Path], Files]:
    """Files of a CoNLL shared task, such as ``conll2003/eng.testa``."""
    return lambda folder: {
        (tag, split): file
        for code, tag in CONLL_NAMES.items()
        for ending, split in CONLL_SPLITS.items()
        if (file := folder / f"conll{year}" / f"{code}.{ending}").is_file()
    }


def _msra(folder: Path) -> Files:
    """The two files of the corpus, which has no dev split."""
    files = {split: folder / "msra" / f"msra_{split}_bio.txt" for split in ("train", "test")}
    return {("zh", split): file for split, file in files.items() if file.is_file()}


def _translations(folder: Path) -> Files:
    """MultiNLI in the languages of XNLI, in the folder as unpacked or in ``xnli_mt``."""
    folders = [folder / "XNLI-MT-1.0" / "multinli", folder / "xnli_mt" / "multinli", folder / "xnli_mt"]
    files = (file for parent in folders for file in sorted(parent.glob("multinli.train.*.tsv")))
    return _files(files, r"multinli\.(?P<split>train)\.(?P<corpus>\w+)\.tsv")


def _topic_sides(folder: Path, part: str) -> Sides:
    """The same sentences in every language. Varieties with one tag keep their codes."""
    files = {file.parent.name: file for file in (folder / "sib200").glob(f"*/{part}.tsv")}
    varieties = Counter(map(language_tag, files))
    sides: Sides = {}
    for code, file in files.items():
        language = tag if varieties[tag := language_tag(code)] == 1 else code.replace("_", "-")
        name = f"sib200/{code}:{part}"
        sides[language] = partial(tsv.read, file, layout=rows.SIB200, name=name, language=language)
    return sides


def _hypothesis_sides(folder: Path, part: str) -> Sides:
    """Hypotheses in all languages; premises are excluded because each occurs three times."""
    files = sorted((folder / "xnli").glob(f"{part}-*.tsv"))
    return {language: partial(_hypotheses, file, language) for file in files if (language := file.stem.split("-")[-1])}


def _hypotheses(file: Path, language: str) -> Corpus:
    corpus = tsv.read(file, layout=rows.XNLI, name=f"xnli/{file.stem}", language=language)
    return replace(corpus, items=tuple(replace(pair, segments=pair.segments[1:]) for pair in corpus.texts))


def _tatoeba_sides(folder: Path, part: str) -> Sides:
    """English and one other language."""
    for file in sorted((folder / "tatoeba").glob("tatoeba.*-eng.eng")):
        code = file.name.split(".")[1].removesuffix("-eng")
        if part in (code, language_tag(code)):
            sides = (("en", file), (language_tag(code), file.with_suffix(f".{code}")))
            return {language: partial(text.read_lines, path, language=language) for language, path in sides}
    return {}


_TAGGED = partial(iob.read, prefixed=False)

_ALL: dict[str, Collection] = {
    # ud/UD_English-EWT/en_ewt-ud-train.conllu, or ud-treebanks-v2.14/UD_English-EWT/…; the folder may be that release
    # itself. Parallel: ud/pud is UD_English-PUD, UD_French-PUD, …
    "ud": Collection(
        _treebanks,
        read_treebank,
        _first_part,
        _treebank_sides,
        get=get_treebanks(ANY_RELEASE),
        licence="per treebank: see its README",
        published="universaldependencies.org",
    ),
    # In crosslens itself. sample/en: 600 training and 100 dev sentences of English-EWT (train and test); test: 100
    # sentences of PUD in nine languages. Parallel: sample/test
    "sample": Collection(
        _sample, read_treebank, _first_part, _sample_sides, licence="CC BY-SA", published="universaldependencies.org"
    ),
    # uner/UNER_English-EWT/en_ewt-ud-train.iob2
    "uner": Collection(
        _uner,
        _TAGGED,
        _first_part,
        get="`crosslens data get uner`",
        licence="CC BY-SA, as the treebank",
        published="github.com/UniversalNER",
    ),
    # wikiann/en/train
    "wikiann": Collection(
        _by_language("wikiann", "*/*"),
        partial(iob.read, prefixed=True),
        _of_wikipedia,
        get="`crosslens data get wikiann`",
        licence="none stated; text of Wikipedia",
        published="github.com/afshinrahimi/mmner",
    ),
    # wikineural/en/train.conll
    "wikineural": Collection(
        _by_language("wikineural", "*/*.conll"),
        _TAGGED,
        _first_part,
        licence="CC BY-NC-SA 4.0",
        published="github.com/Babelscape/wikineural",
    ),
    # conll2003/eng.train, eng.testa, eng.testb and deu.…, which are conll2003/en and conll2003/de
    "conll2003": Collection(
        _conll("2003"),
        conll.read,
        language_tag,
        licence="Reuters Corpora (NIST)",
        published="clips.uantwerpen.be/conll2003",
    ),
    # conll2002/esp.train, esp.testa, esp.testb and ned.…, which are conll2002/es and conll2002/nl
    "conll2002": Collection(_conll("2002"), conll.read, language_tag, published="clips.uantwerpen.be/conll2002"),
    # msra/msra_train_bio.txt and msra_test_bio.txt: Chinese of SIGHAN 2006 (Levow 2006), one character per line
    "msra": Collection(_msra, _TAGGED, language_tag),
    # masakhaner/…/wol/train.txt
    "masakhaner": Collection(
        _by_language("masakhaner", "**/*.txt"),
        _TAGGED,
        _first_part,
        get="`crosslens data get masakhaner`",
        licence="CC BY-NC 4.0",
        published="github.com/masakhane-io",
    ),
    # sib200/eng_Latn/train.tsv, texts with topics. Parallel: sib200/test
    "sib200": Collection(
        _by_language("sib200", "*/*.tsv"),
        partial(tsv.read, layout=rows.SIB200),
        language_tag,
        _topic_sides,
        get="`crosslens data get sib200`",
        licence="texts CC BY-SA 4.0 (FLORES-200)",
        published="github.com/dadelani/sib-200",
    ),
    # xnli/dev-en.tsv, pairs. Parallel: xnli/dev, their hypotheses
    "xnli": Collection(
        _in_one_folder("xnli", r"(?P<split>train|dev|test)-(?P<corpus>\w+)\.tsv"),
        partial(tsv.read, layout=rows.XNLI),
        language_tag,
        _hypothesis_sides,
        get="`crosslens data get xnli`",
        licence="CC BY-NC 4.0",
        published="github.com/facebookresearch/XNLI",
    ),
    # XNLI-MT-1.0/multinli/multinli.train.fr.tsv: MultiNLI, machine-translated by the authors of XNLI
    "xnli_mt": Collection(
        _translations,
        partial(tsv.read, layout=rows.XNLI_MT),
        language_tag,
        licence="CC BY-NC 4.0",
        published="dl.fbaipublicfiles.com/XNLI",
    ),
    # langid/train.tsv, sentences with their languages, which is langid/all
    "langid": Collection(_whole("langid", "{split}.tsv"), partial(tsv.read, layout=rows.LABELLED), _none),
    # wili/x_train.txt and y_train.txt: WiLI-2018, which is wili/all, and wili/mbert for the languages of mBERT
    "wili": Collection(
        wili.files,
        wili.read,
        _none,
        get="`crosslens data get wili`",
        licence="ODbL 1.0",
        published="WiLI-2018 on zenodo.org",
    ),
    # mldoc/english.train.1000, mldoc/german.dev, which is mldoc/german
    "mldoc": Collection(
        _in_one_folder("mldoc", r"(?P<corpus>[a-z]+)\.(?P<split>train|dev|test)(?:\.1000)?"),
        partial(tsv.read, layout=rows.MLDOC),
        language_tag,
        licence="Reuters RCV1 and RCV2: agreement with NIST",
        published="github.com/facebookresearch/MLDoc",
    ),
    # tatoeba/tatoeba.fra-eng.fra and ….eng: parallel alone, tatoeba/fr
    "tatoeba": Collection(
        lambda folder: {},
        text.read_lines,
        language_tag,
        _tatoeba_sides,
        get="`crosslens data get tatoeba`",
        licence="CC BY 2.0 FR",
        published="github.com/facebookresearch/LASER",
    ),
}

COLLECTIONS: Registry[Collection] = Registry("collection", _ALL, contracts=(Collection,))
"""Name -> collection: built-in collections and those of the entry point group ``crosslens.collections``."""


def how_to_get(collection: str, *, releases: Sequence[str] = ()) -> str:
    """How to get a collection, for error messages; "" if that is unknown.

    Args:
        releases: releases of Universal Dependencies that are asked for; none: any.
    """
    if collection == "ud" and releases:
        return get_treebanks(*releases)
    return COLLECTIONS[collection].get if collection in COLLECTIONS else ""


ELSEWHERE = {
    "ud/en_ugc": "LexNorm tweets of van der Goot & van Noord (2018), put into ud/UD_English-UGC/en_ugc-ud-test.conllu"
}
"""Corpus with the layout of a collection that is not published with it -> how to get it."""
