"""A data folder with every corpus that the shipped studies name, a few sentences each, in the published layouts.

The names come from the package: the shipped studies, sets of corpora and pretraining settings. Sentences are those of
the shipped sample where it has the corpus; all others are artificial (`crosslens.lab`), in the script that the
transliterations asked of the language need. Only the splits that somebody reads are written.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from importlib import resources
from pathlib import Path

import langcodes

from crosslens.corpora.catalogue import LABS, RAW, name_split, split_name, split_scheme, split_slice
from crosslens.corpora.collection import COLLECTIONS, CONLL_NAMES, CONLL_SPLITS, SPLITS, language_tag
from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu, iob, tsv
from crosslens.data.sentence import Text
from crosslens.data.transliteration import shipped_tables, transliterate
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language
from crosslens.lab.world import WorldSettings
from crosslens.studies.data_sets import find_data
from crosslens.studies.pretrainings import find_pretraining, needed_texts
from crosslens.studies.study import Data, Study, data_sets, library, pretrainings, read_study

SENTENCES = 12
RAW_LINES = 60
SAMPLE = Path(str(resources.files("crosslens.demo") / "sample"))
OTHER_SCRIPT = "latin-georgian"
"""Script of a language that only uroman is asked for: any that is not Latin."""

PATHS = {
    "ud": "UD_{corpus}/{corpus}-ud-{split}.conllu",
    "uner": "UNER_{corpus}/{corpus}-ud-{split}.iob2",
    "wikiann": "{corpus}/{split}",
    "wikineural": "{corpus}/{split}.conll",
    "masakhaner": "MasakhaNER2.0/data/{corpus}/{split}.txt",
    "sib200": "{corpus}/{split}.tsv",
    "xnli": "{split}-{corpus}.tsv",
    "mldoc": "{corpus}.{split}{thousand}",
    "langid": "{split}.tsv",
    "wili": "x_{split}.txt",
    "conll2002": "{code}.{part}",
    "conll2003": "{code}.{part}",
    "msra": "msra_{split}_bio.txt",
    "xnli_mt": "multinli.{split}.{corpus}.tsv",
}
"""Collection -> path in its folder, as published. A study that names another collection needs its path here."""

LABELS = {
    "sib200": ("politics", "sports", "travel"),
    "mldoc": ("CCAT", "ECAT", "GCAT", "MCAT"),
    "xnli": ("entailment", "neutral", "contradiction"),
    "xnli_mt": ("entailment", "neutral", "contradictory"),
}
"""Labels of texts and pairs, in turn: nothing can be learnt from them."""


@dataclass(frozen=True, order=True)
class Wanted:
    """One file: a split of a corpus."""

    collection: str
    corpus: str
    split: str

    @property
    def is_pattern(self):
        return bool(set(self.corpus) & set("*?"))

    @property
    def path(self):
        thousand = ".1000" if self.split == "train" else ""
        code = {tag: code for code, tag in CONLL_NAMES.items()}.get(self.corpus)
        part = {split: part for part, split in CONLL_SPLITS.items()}.get(self.split)
        names = {"corpus": self.corpus, "split": self.split, "thousand": thousand, "code": code, "part": part}
        return PATHS[self.collection].format(**names)

    @property
    def language(self):
        return "" if self.is_pattern else _bare(COLLECTIONS[self.collection].language(self.corpus))

    @property
    def aligned(self):
        """What all corpora that are translations of this one share: ``pud`` in Universal Dependencies."""
        return self.collection, self.corpus.partition("_")[2] if self.collection == "ud" else "", self.split


@cache
def shipped_studies() -> tuple[Study, ...]:
    return tuple(map(read_study, library()))


@cache
def shipped_data() -> tuple[Data, ...]:
    """Every shipped set of corpora, and those of the shipped studies themselves."""
    return *map(find_data, data_sets()), *(find_data(study.data) for study in shipped_studies())


def corpus_names() -> Iterator[tuple[str, str]]:
    """Yield the name of every annotated corpus, and the split that a name without one means."""
    for data in shipped_data():
        for source in (source for sources in data.tasks.values() for source in sources.values()):
            yield source.train, "train"
            if source.dev:
                yield source.dev, "dev"
            elif _wanted(source.train, "train").split == "train":  # a corpus with only a test split has no dev either
                yield name_split(source.train, "dev"), "dev"
            yield from ((test, "test") for test in source.tests)
        if data.parallel:
            collection, _, part = split_slice(data.parallel)[0].partition("/")
            yield (f"{collection}/*_{part}", "test") if collection == "ud" else (f"{collection}/*:{part}", part)
    for probing in (probing for study in shipped_studies() for probing in study.probes):
        yield probing.train, "train"
        yield probing.test, "test"
        if probing.dev:
            yield probing.dev, "dev"


def text_names() -> set[str]:
    """Names of all raw text that is not artificial: for adapting encoders, and for pretraining them."""
    sources = (source for data in shipped_data() for sources in data.tasks.values() for source in sources.values())
    texts = {source.text for source in sources if source.text}
    texts |= {text for name in pretrainings() for text in find_pretraining(name)[0].corpora.values()}
    needed = (text for study in shipped_studies() for text in needed_texts(study))
    texts |= {text.name for text in needed if text.kind == "text"}
    return {name for name in texts if name.partition("/")[0] not in LABS}


def dictionary_names() -> set[str]:
    return {name for settings in pretrainings() for name in find_pretraining(settings)[0].dictionaries.values()}


class MockRelease:
    """The names that are asked for, and the corpora behind them.

    Args:
        real: data folder whose corpora, cut to their first sentences, are preferred to artificial ones.
    """

    def __init__(self, real: Path = SAMPLE) -> None:
        self.real = real
        asked = [(name, _wanted(name, split)) for name, split in corpus_names()]
        asked = [(name, wanted) for name, wanted in asked if wanted.collection not in LABS]
        single = sorted({wanted for _, wanted in asked if not wanted.is_pattern})
        self.files: list[Wanted] = sorted({file for _, wanted in asked for file in _matching(wanted, single)})
        self.sizes: dict[tuple, int] = {}
        for name, wanted in asked:
            begin = split_slice(name)[1].begin or 0
            self.sizes[wanted.aligned] = max(self.sizes.get(wanted.aligned, 0), begin + SENTENCES)
        self._generated: dict[tuple, Corpus] = {}  # many collections ask for the same sentences
        self.schemes: dict[str, set[str]] = {}
        for name in (*(name for name, _ in asked), *text_names()):
            of, scheme = split_name(name)
            language = _text_language(of) if of.startswith(RAW) else _wanted(of, "test").language
            if scheme:
                self.schemes.setdefault(language, set()).add(scheme[1:])

    @property
    def names(self) -> set[str]:
        return {f"{file.collection}/{file.corpus}:{file.split}" for file in self.files}

    def write(self, folder: Path) -> None:
        """Write all files."""
        for file in self.files:
            path = folder / file.collection / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(self.corpus(file), file, path)
        for name in sorted({split_name(name)[0] for name in text_names()}):
            path = folder / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(text.text for text in self.text(_text_language(name)).texts) + "\n", "utf-8")
        for name in {name.partition(":")[0] for name in dictionary_names()}:
            pairs = self.laboratory.dictionary(*name.removeprefix("muse/").split("-"))
            (folder / "muse").mkdir(exist_ok=True)
            for part, infix in ((pairs[::2], ".0-5000"), (pairs[1::2], ".5000-6500")):
                (folder / f"{name}{infix}.txt").write_text("".join(f"{a}\t{b}\n" for a, b in part), "utf-8")

    def corpus(self, file: Wanted) -> Corpus:
        collection, size = COLLECTIONS[file.collection], self.sizes.get(file.aligned, SENTENCES)
        published = collection.files(self.real).get((file.corpus, file.split))
        if published is not None:
            language = collection.language(file.corpus)
            return collection.read(published, name=str(published), language=language, split=file.split)[:size]
        if file.collection in ("langid", "wili"):
            return self._languages(SPLITS.index(file.split), file.collection)
        asked = file.language, file.split, size
        if asked not in self._generated:
            self._generated[asked] = self.laboratory.corpus(file.language, split=file.split, sentences=size)
        sentences = self._generated[asked]
        if file.collection in LABELS:
            texts = [" ".join(sentence.words) for sentence in sentences.sentences]
            segments = zip(texts, texts[1:] + texts[:1], strict=True)  # pairs, or documents of two sentences
            labels = itertools.cycle(LABELS[file.collection])
            sentences = replace(
                sentences,
                items=tuple(
                    Text(pair if file.collection.startswith("xnli") else (" ".join(pair),), label, str(number))
                    for number, (pair, label) in enumerate(zip(segments, labels, strict=False))
                ),
            )
        corpus = self._in_its_script(sentences)
        shared = COLLECTIONS["ud"].files(SAMPLE).get((f"en_{file.aligned[1]}", file.split))
        if shared is None or file.collection != "ud":
            return corpus
        ids = [sentence.id for sentence in conllu.read(shared).sentences]  # real and artificial sides are aligned
        paired = zip(corpus.sentences, ids[:size], strict=True)
        return replace(corpus, items=tuple(replace(sentence, id=id, lines=None) for sentence, id in paired))

    def _languages(self, part: int, name: str) -> Corpus:
        """Lines of some languages, each with its language; those of another part are other lines."""
        lines = [
            replace(text, label=language)
            for language in self.laboratory.languages[:6]
            for text in self.text(language).texts[part::3][: SENTENCES // 2]
        ]
        return Corpus(tuple(lines), name)

    def text(self, language: str) -> Corpus:
        return self._in_its_script(
            Corpus(tuple(map(_text, self.laboratory.text(language, sentences=RAW_LINES))), language, language)
        )

    @cached_property
    def laboratory(self) -> Laboratory:
        texts = {_text_language(name) for name in text_names()}
        languages = ["en", *sorted(texts | {file.language for file in self.files} - {"", "en"})]
        settings = LaboratorySettings(
            world=WorldSettings(trees=60),
            languages=dict.fromkeys(languages, Language()),
            sentences=RAW_LINES,
        )
        return Laboratory(settings)

    def _in_its_script(self, corpus: Corpus) -> Corpus:
        schemes = self.schemes.get(corpus.language or "", set())
        tables = [scheme for scheme in sorted(schemes) if scheme in shipped_tables()]
        if not schemes:
            return corpus
        back = "-".join(reversed(tables[0].split("-"))) if tables else OTHER_SCRIPT
        return replace(transliterate(corpus, back), language=corpus.language)


def _text(line: str) -> Text:
    return Text((line,))


def _bare(tag: str | None) -> str:
    return langcodes.Language.get(tag).language or "" if tag else ""


def _text_language(name: str) -> str:
    return _bare(language_tag(split_scheme(name)[0].removeprefix(f"{RAW}/")))


def _wanted(name: str, split: str) -> Wanted:
    collection, _, corpus = split_name(name)[0].partition("/")
    corpus, _, named_split = corpus.partition(":")
    return Wanted(collection, corpus, named_split or split)


def _matching(wanted: Wanted, single: list[Wanted]) -> list[Wanted]:
    """The corpora that other names ask for and a pattern matches."""
    if not wanted.is_pattern:
        return [wanted]
    corpora = {file.corpus for file in single if file.collection == wanted.collection}
    return [replace(wanted, corpus=corpus) for corpus in corpora if fnmatchcase(corpus, wanted.corpus)]


def _write(corpus: Corpus, file: Wanted, path: Path) -> None:
    if file.collection == "ud":
        conllu.write(corpus, path)
    elif file.collection == "uner":
        iob.write(corpus, path)
    elif file.collection in ("wikiann", "wikineural", "masakhaner"):
        prefix, tab = (f"{file.corpus}:", "\t") if file.collection == "wikiann" else ("", " ")
        blocks = [zip(sentence.words, sentence.entities or (), strict=True) for sentence in corpus.sentences]
        text = "\n".join("".join(f"{prefix}{word}{tab}{tag}\n" for word, tag in block) for block in blocks)
        path.write_text(text, "utf-8")
    elif file.collection in ("conll2002", "conll2003", "msra"):
        between = " - - " if file.collection.startswith("conll") else "\t"
        blocks = [zip(sentence.words, sentence.entities or (), strict=True) for sentence in corpus.sentences]
        path.write_text(
            "\n".join("".join(f"{word}{between}{tag}\n" for word, tag in block) for block in blocks), "utf-8"
        )
    elif file.collection == "xnli_mt":
        rows = ("\t".join((*text.segments, text.label or "")) for text in corpus.texts)
        path.write_text("".join(f"{row}\n" for row in ("premise\thypo\tlabel", *rows)), "utf-8")
    elif file.collection in ("sib200", "xnli"):
        tsv.write(corpus, path)
    elif file.collection == "wili":
        path.write_text("".join(f"{text.text}\n" for text in corpus.texts), "utf-8")
        labels = path.with_name(f"y_{file.split}.txt")
        labels.write_text("".join(f"{text.label}\n" for text in corpus.texts), "utf-8")
    else:
        header = ["label\ttext\n"] if file.collection == "langid" else []
        path.write_text("".join([*header, *(f"{text.label}\t{text.text}\n" for text in corpus.texts)]), "utf-8")
