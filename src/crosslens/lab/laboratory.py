"""A laboratory: a world, languages that realise it, and the corpora made of them.

Gold annotation comes from where the words come from, so it has no errors. The same seed makes the same corpora.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel, join
from crosslens.data.sentence import Sentence, Text, Where
from crosslens.digests import stream_seed
from crosslens.errors import RequestError, suggest
from crosslens.lab.grammar import KINDS, Tree
from crosslens.lab.language import Language, heads_of
from crosslens.lab.lexicon import Shares, Words, make_lexicons
from crosslens.lab.texts import LABELS, Meaning, draw_documents, draw_pair, fits_pair
from crosslens.lab.world import World, WorldSettings

Share = Annotated[float, Field(ge=0, le=1)]

DEFAULT_PRESET = "good"
"""The preset that is meant where none is named."""

SIZES = {"train": 2000, "dev": 300, "test": 500}
"""Sentences of each split."""

LABELLED = {"train": 300, "dev": 100, "test": 200}
"""Sentences of each language that are drawn for language identification."""

PREMISES = 1000
"""Sentences that are drawn at a time for pairs; after as many premises without a pair there are taken to be none."""

FEATURES = {"NOUN": ("Number=Sing", "Number=Plur"), "VERB": ("Tense=Pres", "Tense=Past")}
"""What is drawn for words of these kinds, and is heard in languages with suffixes."""


_LARGER = "increase world.trees or world.longest"


class LaboratorySettings(BaseModel):
    """What a laboratory is made of.

    Attributes:
        world: its size.
        languages: name -> grammar; the first is the source.
        anchors: share of the content words that are one word in all languages, spread over frequent and rare ones.
        names: share of the names that are.
        numerals: share of the numerals that are.
        cognates: share of the other content words that are the source's after a sound change.
        false_friends: share of the rest that some other language uses for another concept.
        homonyms: share of the verbs and adjectives that sound like a noun.
        sentences: of raw text a language.
        seed: of everything.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    world: WorldSettings = WorldSettings()
    languages: dict[str, Language]
    anchors: Share = 0.25
    names: Share = 1.0
    numerals: Share = 1.0
    cognates: Share = 0.0
    false_friends: Share = 1.0
    homonyms: Share = 0.05
    sentences: Annotated[int, Field(ge=1)] = 30_000
    seed: int = 0

    @field_validator("languages")
    @classmethod
    def _named(cls, languages: dict[str, Language]) -> dict[str, Language]:
        wrong = [name for name in languages if not (name.isascii() and name.isalnum() and name.islower())]
        if wrong or not languages:
            raise ValueError(f"language names must consist of lower-case letters and digits: {wrong or 'none given'}")
        return languages


class Laboratory:
    """A laboratory, made from its settings.

    Args:
        settings: all that it depends on.
        preset: the preset's name, where it is one.
    """

    def __init__(self, settings: LaboratorySettings, *, preset: str | None = None) -> None:
        self.settings = settings
        self.preset = preset
        self.world = World(settings.world, settings.seed)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages; the first is the source."""
        return tuple(self.settings.languages)

    def name(self, language: str, *, collection: str = "lab") -> str:
        """What the catalogue calls a language, or ``all`` of them: ``lab/sov``, and ``lab/sov_no_anchors``."""
        preset = "" if self.preset in (None, DEFAULT_PRESET) else "_" + self.preset.replace("-", "_")
        return f"{collection}/{language}{preset}"

    @cached_property
    def lexicons(self) -> dict[str, list[str]]:
        """Each language's word for each concept, without suffixes."""
        settings = self.settings
        shares = Shares(
            settings.anchors,
            settings.names,
            settings.numerals,
            settings.cognates,
            settings.false_friends,
            settings.homonyms,
        )
        return make_lexicons(self.world, settings.languages, shares, seed=settings.seed)

    def structures(self, split: str) -> list[Tree]:
        """The sentence structures of a split; raw text has those of ``train``.

        Dev and test sets have structures of their own. No sentence of theirs has, in any of the languages, the
        sequence of word classes (`Language.pattern`) of a sentence of raw text or of another split. So they share
        neither a sentence nor a dependency tree with raw text and train sets.

        Raises:
            RequestError: when there is no such split, or the grammar has too few structures.
        """
        self._check_split(split)
        if split == "train":
            return self.world.trees
        if split not in self._structures:
            self._structures[split] = self.world.draw_trees(f"trees of {split}", accept=self._novelty(split))
        return self._structures[split]

    @cached_property
    def _structures(self) -> dict[str, list[Tree]]:
        return {}

    def _novelty(self, split: str) -> Callable[[Tree], bool]:
        """Whether a structure differs, in every language, from those of raw text and of the splits before this one."""
        before = {"train": (), "test": ("train",), "dev": ("train", "test")}[split]
        grammars = self.settings.languages.values()
        known = {grammar.pattern(tree) for other in before for tree in self.structures(other) for grammar in grammars}
        return lambda tree: not known or not any(grammar.pattern(tree) in known for grammar in grammars)

    def corpus(self, language: str, *, split: str = "test", sentences: int | None = None) -> Corpus:
        """Annotated sentences: UPOS, features, heads, relations and entities.

        The test sets of all languages are translations of one another, joined by id; train and dev sets are not.

        Args:
            language: one of `languages`.
            split: ``train``, ``dev`` or ``test``.
            sentences: number of sentences; by default that of the split. Fewer are the first of more.

        Raises:
            RequestError: when there is no such language or split.
        """
        count, stream = self._asked(language, split, sentences)
        grammar = self._grammar(language)
        name = f"{self.name(language)}:{split}"
        items = []
        for number, (tree, concepts, marks) in enumerate(self._draws(split, *stream, count=count)):
            items.append(self._sentence(language, grammar, tree, concepts, marks, f"{split}-{number + 1:05}", name))
        return Corpus(tuple(items), name, language, split)

    def parallel(self, languages: Sequence[str] | None = None, *, sentences: int | None = None) -> Parallel:
        """The test sets of these languages, or of all, which are translations of one another."""
        chosen = sorted(languages or self.languages)
        return join((self.corpus(language, sentences=sentences) for language in chosen), name=self.name("all"))

    def documents(self, language: str, *, split: str = "test", documents: int | None = None) -> Corpus:
        """Documents of a few sentences, labelled with what they are about.

        Args:
            language: one of `languages`.
            split: ``train``, ``dev`` or ``test``; test sets are translations of one another.
            documents: how many; as many as the split has sentences by default.

        Raises:
            RequestError: when there is no such language or split.
        """
        count, stream = self._asked(language, split, documents)
        # The sentences that documents are put together from come from the same stream whatever the count.
        meanings = list(self._draws(split, "documents", *stream, count=4 * SIZES[split]))
        drawn = draw_documents(self.world, meanings, count, self._generator("documents", split, *stream))
        items = [
            Text((" ".join(self._say(language, meaning) for meaning in meanings),), label, f"{split}-{number:05}")
            for number, (label, meanings) in enumerate(drawn, start=1)
        ]
        return Corpus(tuple(items), f"{self.name(language, collection='lab_topics')}:{split}", language, split)

    def pairs(self, language: str, *, split: str = "test", pairs: int | None = None) -> Corpus:
        """Premises and hypotheses, labelled ``entailment``, ``neutral`` or ``contradiction``.

        Args:
            language: one of `languages`.
            split: ``train``, ``dev`` or ``test``; test sets are translations of one another.
            pairs: how many; as many as the split has sentences by default.

        Raises:
            RequestError: when there is no such language or split, or no structure that pairs are made of.
        """
        count, stream = self._asked(language, split, pairs)
        if not any(map(fits_pair, self.structures(split))):
            raise RequestError("no sentence of this world has a subject, an object and an omissible word", hint=_LARGER)
        generator = self._generator("pairs", split, *stream)
        drawn = chain.from_iterable(
            self._draws(split, "pairs", *stream, str(part), count=PREMISES) for part in itertools.count()
        )
        is_new = self._novelty(split)
        items: list[Text] = []
        for attempt, premise in enumerate(meaning for meaning in drawn if fits_pair(meaning[0])):
            label = LABELS[generator.integers(len(LABELS))]
            hypothesis = draw_pair(self.world, premise, label, generator)
            if is_new(hypothesis[0]):  # depends on the structure alone, and so not on the label
                segments = self._say(language, premise), self._say(language, hypothesis)
                items.append(Text(segments, label, f"{split}-{len(items) + 1:05}"))
            if len(items) == count:
                break
            if attempt == PREMISES and not items:
                raise RequestError("no shortened sentence has a structure that no other sentence has", hint=_LARGER)
        return Corpus(tuple(items), f"{self.name(language, collection='lab_pairs')}:{split}", language, split)

    def labelled(self, language: str, *, split: str = "test", sentences: int | None = None) -> Corpus:
        """Sentences labelled with their language, for its identification; none comes twice, nor in two splits.

        Args:
            language: one of `languages`; ``all``: all of them together.
            split: ``train``, ``dev`` or ``test``.
            sentences: drawn of each language, of which repetitions are left out; `LABELLED` by default.

        Raises:
            RequestError: when there is no such language or split.
        """
        items = []
        for each in self.languages if language == "all" else (language,):
            self._asked(each, split, sentences)
            split_of: dict[str, str] = {}
            for part in SIZES:  # a sentence belongs to the first split that draws it
                count = (sentences or LABELLED[part]) if part == split else LABELLED[part]
                for meaning in self._draws(part, "labelled", each, count=count):
                    split_of.setdefault(self._say(each, meaning), part)
            texts = [text for text, part in split_of.items() if part == split]
            items += [Text((text,), each, f"{each}-{number}") for number, text in enumerate(texts, start=1)]
        name = f"{self.name(language, collection='lab_langid')}:{split}"
        return Corpus(tuple(items), name, None if language == "all" else language, split)

    def _asked(self, language: str, split: str, count: int | None) -> tuple[int, tuple[str, ...]]:
        """How many items, and what tells this language's from others': nothing in test sets, which are parallel."""
        self._grammar(language)
        self._check_split(split)
        return count or SIZES[split], () if split == "test" else (language,)

    def _check_split(self, split: str) -> None:
        if split not in SIZES:
            raise RequestError(f"unknown split {split!r}", hint=suggest(split, SIZES))

    def _generator(self, *stream: str) -> np.random.Generator:
        return np.random.default_rng(stream_seed(self.settings.seed, "texts", *stream))

    def _say(self, language: str, meaning: Meaning) -> str:
        """A sentence as raw text has it."""
        tree, concepts, marks = meaning
        order = self._grammar(language).linear(tree)
        return " ".join(self._forms(language)[concepts[order], marks[order]])

    def text(self, language: str, *, sentences: int | None = None) -> list[str]:
        """Raw text, a sentence a line; no sentence of one language translates one of another but by chance."""
        grammar = self._grammar(language)
        count = sentences or self.settings.sentences
        forms = self._forms(language)
        generator = np.random.default_rng(stream_seed(self.settings.seed, "text", language))
        trees = self.world.trees
        often = generator.multinomial(count, np.full(len(trees), 1 / len(trees)))
        lines: list[str] = []
        for tree, times in zip(trees, often.tolist(), strict=True):
            order = grammar.linear(tree)
            concepts = self.world.fill(tree, times, generator)[:, order]
            marks = generator.integers(2, size=concepts.shape)
            lines += map(" ".join, forms[concepts, marks].tolist())
        return [lines[i] for i in generator.permutation(count)]

    def dictionary(self, source: str, target: str) -> list[tuple[str, str]]:
        """Translations of words, one pair a concept that both languages have a word for."""
        pairs = zip(self.world.concepts, self._lexicon(source), self._lexicon(target), strict=True)
        both = [self._grammar(language) for language in (source, target)]
        return [(a, b) for (kind, _), a, b in pairs if kind != "full_stop" and all(g.says(kind) for g in both)]

    def _draws(self, split: str, *stream: str, count: int) -> Iterator[Meaning]:
        """Sentences before anyone says them: structures, concepts, and what is drawn for number and tense."""
        generator = np.random.default_rng(stream_seed(self.settings.seed, "treebank", split, *stream))
        trees = self.structures(split)
        for which in generator.integers(len(trees), size=count):
            tree = trees[which]
            yield tree, self.world.fill(tree, 1, generator)[0], generator.integers(2, size=len(tree))

    def _sentence(
        self, language: str, grammar: Language, tree: Tree, concepts: np.ndarray, marks: np.ndarray, id: str, name: str
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
            where=Where(name, 1),
            lines=(*lines, "\n"),
        )

    def _forms(self, language: str) -> np.ndarray:
        """``(concepts, 2)``: each word without and with the mark of plural or past."""
        if language not in self._inflected:
            words = self._lexicon(language)
            grammar = self.settings.languages[language]
            endings = Words(stream_seed(self.settings.seed, "suffixes", language))
            suffix = {upos: endings.new(grammar.script)[:2] for upos in FEATURES}
            marked = [
                word + suffix[KINDS[kind].upos] if grammar.suffixes and KINDS[kind].upos in FEATURES else word
                for word, (kind, _) in zip(words, self.world.concepts, strict=True)
            ]
            self._inflected[language] = np.asarray([words, marked], object).T
        return self._inflected[language]

    @cached_property
    def _inflected(self) -> dict[str, np.ndarray]:
        return {}

    def _lexicon(self, language: str) -> list[str]:
        self._grammar(language)
        return self.lexicons[language]

    def _grammar(self, language: str) -> Language:
        if language not in self.settings.languages:
            raise RequestError(f"the laboratory has no language {language!r}", hint=suggest(language, self.languages))
        return self.settings.languages[language]


def _entities(tree: Tree, order: list[int]) -> tuple[str, ...]:
    """IOB2: a name's type, and the words that continue it."""
    tags = []
    for number, place in enumerate(order):
        kind = KINDS[tree[place].kind].entity
        goes_on = tree[place].relation == "flat" and number and order[number - 1] == tree[place].head
        tags.append("O" if kind is None else f"{'I' if goes_on else 'B'}-{kind}")
    return tuple(tags)
