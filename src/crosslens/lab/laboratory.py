"""Corpora in artificial languages: raw text, treebanks with entities, documents, sentence pairs and dictionaries.

Annotation is generated together with the words, so it has no errors. The same settings give the same corpora.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.digests import stream_seed
from crosslens.errors import RequestError, require_known
from crosslens.lab.grammar import KINDS, Tree
from crosslens.lab.laboratory_settings import LaboratorySettings
from crosslens.lab.language import Language, heads_of
from crosslens.lab.lexicon import Words, make_lexicons
from crosslens.lab.texts import LABELS, Meaning, draw_documents, draw_pair, fits_pair, is_premise
from crosslens.lab.world import World

DEFAULT_PRESET = "good"
"""The default preset."""

SIZES = {"train": 2000, "dev": 300, "test": 500}
"""Default number of sentences in each split."""

LABELLED = {"train": 300, "dev": 100, "test": 200}
"""Default number of sentences per language in each split for language identification, before deduplication."""

PREMISES = 1000
"""Sentences sampled at a time for sentence pairs, and premises without a valid pair after which sampling fails."""

FEATURES = {"NOUN": ("Number=Sing", "Number=Plur"), "VERB": ("Tense=Pres", "Tense=Past")}
"""UPOS tag -> its two inflectional features; languages with suffixes mark the second one."""

_LARGER = "increase world.trees or world.longest"


class Laboratory:
    """A set of artificial languages and their corpora, generated from settings.

    A ``language`` is one of `languages`, a ``split`` ``train``, ``dev`` or ``test``, and a number of items at least 1;
    others raise a `RequestError`.

    Args:
        settings: settings that determine all corpora.
        preset: name of the preset, if any.
    """

    def __init__(self, settings: LaboratorySettings, *, preset: str | None = None) -> None:
        self.settings = settings
        self.preset = preset
        self.world = World(settings.world, settings.seed)
        self._structures: dict[str, list[Tree]] = {}
        self._inflected: dict[str, np.ndarray] = {}

    @property
    def languages(self) -> tuple[str, ...]:
        """Names of the languages; the first is the source language."""
        return tuple(self.settings.languages)

    def name(self, language: str, *, collection: str = "lab") -> str:
        """Corpus name of a language, or of ``all``, such as ``lab/sov`` or ``lab/sov_no_anchors``."""
        preset = "" if self.preset in (None, DEFAULT_PRESET) else "_" + self.preset.replace("-", "_")
        return f"{collection}/{language}{preset}"

    @cached_property
    def lexicons(self) -> dict[str, list[str]]:
        """Language -> lemma of each concept."""
        return make_lexicons(self.world, self.settings)

    def structures(self, split: str) -> list[Tree]:
        """Dependency trees of a split; raw text has those of ``train``.

        In every language, the sequences of word classes (`Language.pattern`) in dev and test sets differ from each
        other's and from those of raw text and training sets. So the splits share no sentence and no dependency tree.

        Raises:
            RequestError: if the grammar has too few trees.
        """
        self._check_split(split)
        if split == "train":
            return self.world.trees
        if split not in self._structures:
            self._structures[split] = self.world.draw_trees(f"trees of {split}", accept=self._novelty(split))
        return self._structures[split]

    def _novelty(self, split: str) -> Callable[[Tree], bool]:
        """Filter for trees whose patterns, in every language, occur neither in raw text nor in preceding splits."""
        preceding = {"train": (), "test": ("train",), "dev": ("train", "test")}[split]
        grammars = set(self.settings.languages.values())
        known = {
            grammar.pattern(tree) for other in preceding for tree in self.structures(other) for grammar in grammars
        }
        return lambda tree: not known or not any(grammar.pattern(tree) in known for grammar in grammars)

    def corpus(self, language: str, *, split: str = "test", sentences: int | None = None) -> Corpus:
        """Generate sentences with UPOS tags, features, dependency trees and entities.

        Test sets are parallel across languages, with the same sentence ids. Train and dev sets are not; their ids have
        the language.

        Args:
            sentences: number of sentences; None: `SIZES`. A smaller number gives a prefix of the same sentences.
        """
        count, stream, prefix = self._check_request(language, split, sentences)
        grammar = self._grammar(language)
        name = f"{self.name(language)}:{split}"
        items = []
        # Structures are drawn first, then words: to be a prefix, a smaller corpus draws as many structures.
        sampled = self._sample(split, *stream, count=max(count, SIZES[split]), first=count)
        for number, (tree, concepts, marks) in enumerate(sampled):
            items.append(self._sentence(language, grammar, tree, concepts, marks, f"{prefix}-{number + 1:05}"))
        return Corpus(tuple(items), name, language, split)

    def links(self, source: str, target: str, ids: Sequence[str]) -> tuple[frozenset[tuple[int, int]], ...]:
        """List the links between the words of parallel test sentences: (source word, target word), from 0."""
        grammars = [self._grammar(language) for language in (source, target)]
        numbers = [int(id.removeprefix("test-")) - 1 for id in ids]
        links: list[frozenset[tuple[int, int]]] = []
        structures = self.structures("test")
        for index in self._sample_structures("test", count=max(numbers, default=-1) + 1)[0].tolist():
            first, second = (grammar.linear(structures[index]) for grammar in grammars)
            links.append(frozenset((first.index(place), second.index(place)) for place in first if place in second))
        return tuple(links[number] for number in numbers)

    def documents(self, language: str, *, split: str = "test", documents: int | None = None) -> Corpus:
        """Generate documents labelled with their topic; test sets are parallel across languages.

        Args:
            documents: number of documents; None: `SIZES`.

        Raises:
            RequestError: if too few sentences have a noun.
        """
        count, stream, prefix = self._check_request(language, split, documents)
        # The pool of sentences does not depend on the number of documents.
        pool = self._sample(split, "documents", *stream, count=4 * SIZES[split])
        labelled = draw_documents(self.world, pool, count, self._generator("documents", split, *stream))
        items = [
            Text((" ".join(self._realise(language, meaning) for meaning in meanings),), label, f"{prefix}-{number:05}")
            for number, (label, meanings) in enumerate(labelled, start=1)
        ]
        return Corpus(tuple(items), f"{self.name(language, collection='lab_topics')}:{split}", language, split)

    def pairs(self, language: str, *, split: str = "test", pairs: int | None = None) -> Corpus:
        """Generate premises and hypotheses labelled ``entailment``, ``neutral`` or ``contradiction``.

        Test sets are parallel across languages.

        Args:
            pairs: number of pairs; None: `SIZES`.

        Raises:
            RequestError: for fewer than three nouns, or if no tree allows sentence pairs.
        """
        count, stream, prefix = self._check_request(language, split, pairs)
        if self.settings.world.nouns < 3:
            raise RequestError(
                "sentence pairs need three nouns: a subject, an object and another object", hint="increase world.nouns"
            )
        if not any(map(fits_pair, self.structures(split))):
            raise RequestError("no sentence of this world has a subject, an object and an omissible word", hint=_LARGER)
        generator = self._generator("pairs", split, *stream)
        meanings = chain.from_iterable(
            self._sample(split, "pairs", *stream, str(part), count=PREMISES) for part in itertools.count()
        )
        is_new = self._novelty(split)
        items: list[Text] = []
        for attempt, premise in enumerate(filter(is_premise, meanings)):
            label = LABELS[generator.integers(len(LABELS))]
            hypothesis = draw_pair(self.world, premise, label, generator)
            if is_new(hypothesis[0]):  # depends on the tree alone, so not on the label
                segments = self._realise(language, premise), self._realise(language, hypothesis)
                items.append(Text(segments, label, f"{prefix}-{len(items) + 1:05}"))
            if len(items) == count:
                break
            if attempt == PREMISES and not items:
                raise RequestError("no shortened sentence has a structure that no other sentence has", hint=_LARGER)
        return Corpus(tuple(items), f"{self.name(language, collection='lab_pairs')}:{split}", language, split)

    def labelled(self, language: str, *, split: str = "test", sentences: int | None = None) -> Corpus:
        """Generate sentences labelled with their language, each once; no two splits share one (see `structures`).

        Args:
            language: one of `languages`, or ``all``.
            sentences: number of sentences per language before deduplication; None: `LABELLED`.
        """
        items = []
        for label in self.languages if language == "all" else (language,):
            self._check_request(label, split, sentences)
            meanings = self._sample(split, "labelled", label, count=_count(sentences, LABELLED[split]))
            texts = dict.fromkeys(self._realise(label, meaning) for meaning in meanings)
            items += [Text((text,), label, f"{label}-{number}") for number, text in enumerate(texts, start=1)]
        name = f"{self.name(language, collection='lab_langid')}:{split}"
        return Corpus(tuple(items), name, None if language == "all" else language, split)

    def _check_request(self, language: str, split: str, count: int | None) -> tuple[int, tuple[str, ...], str]:
        """Check language and split; return the number of items and the language's part of the random stream's name.

        That part is empty for test sets, which are parallel across languages. Also return the prefix of the items' ids.
        """
        self._grammar(language)
        self._check_split(split)
        stream = () if split == "test" else (language,)
        return _count(count, SIZES[split]), stream, "-".join((split, *stream))

    def _check_split(self, split: str) -> None:
        require_known(split, SIZES, "unknown split")

    def _generator(self, *stream: str) -> np.random.Generator:
        return np.random.default_rng(stream_seed(self.settings.seed, "texts", *stream))

    def _realise(self, language: str, meaning: Meaning) -> str:
        """Linearise and inflect a sentence, as in raw text."""
        tree, concepts, marks = meaning
        order = self._grammar(language).linear(tree)
        return " ".join(self._forms(language)[concepts[order], marks[order]])

    def text(self, language: str, *, sentences: int | None = None) -> list[str]:
        """Generate raw text, one sentence per line, not parallel across languages."""
        grammar = self._grammar(language)
        count = _count(sentences, self.settings.sentences)
        forms = self._forms(language)
        generator = np.random.default_rng(stream_seed(self.settings.seed, "text", language))
        trees = self.world.trees
        counts = generator.multinomial(count, np.full(len(trees), 1 / len(trees)))
        lines: list[str] = []
        for tree, tree_count in zip(trees, counts.tolist(), strict=True):
            order = grammar.linear(tree)
            concepts = self.world.fill(tree, generator.random((len(tree), tree_count)).T)[:, order]
            marks = generator.integers(2, size=concepts.shape)
            lines += map(" ".join, forms[concepts, marks].tolist())
        return [lines[i] for i in generator.permutation(count)]

    def dictionary(self, source: str, target: str) -> list[tuple[str, str]]:
        """List word translations, one pair for each concept that both languages express."""
        pairs = zip(self.world.concepts, self._lexicon(source), self._lexicon(target), strict=True)
        grammars = [self._grammar(language) for language in (source, target)]
        return [(a, b) for (kind, _), a, b in pairs if kind != "full_stop" and all(g.says(kind) for g in grammars)]

    def _sample(self, split: str, *stream: str, count: int, first: int | None = None) -> list[Meaning]:
        """Sample language-independent sentences.

        Args:
            split: split whose structures they have.
            stream: rest of the name of the random stream.
            count: number of structures that are sampled before any word.
            first: number of sentences returned; None: all.
        """
        chosen, generator = self._sample_structures(split, *stream, count=count)
        structures, chosen = self.structures(split), chosen[:first]
        drawn = [
            (generator.random(len(structures[index])), generator.integers(2, size=len(structures[index])))
            for index in chosen.tolist()
        ]
        meanings: dict[int, Meaning] = {}
        for index in np.unique(chosen).tolist():  # all sentences of one structure at once
            places, tree = np.flatnonzero(chosen == index).tolist(), structures[index]
            filled = self.world.fill(tree, np.array([drawn[place][0] for place in places]))
            for place, concepts in zip(places, filled, strict=True):
                meanings[place] = tree, concepts, drawn[place][1]
        return [meanings[place] for place in range(len(chosen))]

    def _sample_structures(self, split: str, *stream: str, count: int) -> tuple[np.ndarray, np.random.Generator]:
        """Sample places in `structures`; return also the generator that draws the words next."""
        generator = np.random.default_rng(stream_seed(self.settings.seed, "treebank", split, *stream))
        return generator.integers(len(self.structures(split)), size=count), generator

    def _sentence(
        self, language: str, grammar: Language, tree: Tree, concepts: np.ndarray, marks: np.ndarray, id: str
    ) -> Sentence:
        order = grammar.linear(tree)
        forms, lemmas = self._forms(language), self._lexicon(language)
        words = tuple(str(forms[concepts[place], marks[place]]) for place in order)
        upos = tuple(KINDS[tree[place].kind].upos for place in order)
        heads = tuple(heads_of(tree, order))
        relations = tuple(tree[place].relation for place in order)
        lines = [f"# sent_id = {id}\n", f"# text = {' '.join(words[:-1])}{words[-1]}\n"]
        for number, place in enumerate(order):
            values = FEATURES.get(upos[number])
            misc = "SpaceAfter=No" if number == len(order) - 2 else "_"
            columns = (
                str(number + 1),
                words[number],
                lemmas[concepts[place]],
                upos[number],
                "_",
                values[marks[place]] if values else "_",
                str(heads[number]),
                relations[number],
                "_",
                misc,
            )
            lines.append("\t".join(columns) + "\n")
        return Sentence(
            words=words,
            upos=upos,
            heads=heads,
            relations=relations,
            entities=_entities(tree, order),
            id=id,
            lines=(*lines, "\n"),
        )

    def _forms(self, language: str) -> np.ndarray:
        """``(concepts, 2)`` word forms: the lemma, and the plural or past form."""
        if language not in self._inflected:
            lemmas = self._lexicon(language)
            grammar = self.settings.languages[language]
            suffixes = Words(stream_seed(self.settings.seed, "suffixes", language))
            suffix_of = {upos: suffixes.new(grammar.script)[:2] for upos in FEATURES}
            inflected = [
                lemma + suffix_of[KINDS[kind].upos] if grammar.suffixes and KINDS[kind].upos in FEATURES else lemma
                for lemma, (kind, _) in zip(lemmas, self.world.concepts, strict=True)
            ]
            self._inflected[language] = np.asarray([lemmas, inflected], object).T
        return self._inflected[language]

    def _lexicon(self, language: str) -> list[str]:
        self._grammar(language)
        return self.lexicons[language]

    def _grammar(self, language: str) -> Language:
        require_known(language, self.settings.languages, "the laboratory has no language")
        return self.settings.languages[language]


def _count(asked: int | None, default: int) -> int:
    """Number of items of a corpus: the one asked for, or the default."""
    if asked is not None and asked < 1:
        raise RequestError(f"a corpus cannot have {asked} items", hint="ask for at least 1")
    return default if asked is None else asked


def _entities(tree: Tree, order: list[int]) -> tuple[str, ...]:
    """IOB2 entity tags of a linearised tree."""
    tags = []
    for place in order:
        entity = KINDS[tree[place].kind].entity
        inside = tree[place].relation == "flat"  # a surname, which follows its first name in every language
        tags.append("O" if entity is None else f"{'I' if inside else 'B'}-{entity}")
    return tuple(tags)
