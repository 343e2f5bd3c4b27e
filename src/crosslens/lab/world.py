"""The world that all languages speak of: its concepts, how often each is spoken of, and what goes with what.

A concept is a kind and a number. Which concept fills a node depends on its head's: verbs prefer subjects and objects of
some semantic classes, adjectives describe nouns of some. Those preferences, and Zipf's law, are all that a language
model can learn the meaning of a word from, and they are the same in every language.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from crosslens.digests import stream_seed
from crosslens.lab.grammar import KINDS, Tree, draw_trees

Some = Annotated[int, Field(ge=1)]


class WorldSettings(BaseModel):
    """How large a world is, and how strict.

    Attributes:
        nouns: how many.
        classes: semantic classes of nouns, adjectives and verbs.
        transitive: verbs that take an object.
        intransitive: verbs that take none.
        clausal: verbs that take a clause.
        adjectives: how many.
        adverbs: how many.
        first_names: of persons.
        surnames: of persons.
        places: named ones.
        organisations: named ones.
        namesakes: share of the organisations that are called like a place, so that only context tells them apart.
        trees: sentence structures of each split; raw text has those of ``train``.
        shortest: nodes of a structure, at least.
        longest: nodes of a structure, at most.
        exponent: of Zipf's law.
        strictness: how many times likelier a word of a preferred class is.
        spread: standard deviation of the logarithm of every other preference.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    nouns: Some = 36
    classes: Some = 6
    transitive: Some = 12
    intransitive: Some = 6
    clausal: Some = 2
    adjectives: Some = 12
    adverbs: Some = 5
    first_names: Some = 9
    surnames: Some = 9
    places: Some = 7
    organisations: Some = 7
    namesakes: Annotated[float, Field(ge=0, le=1)] = 0.0
    trees: Some = 300
    shortest: Annotated[int, Field(ge=3)] = 4
    longest: Annotated[int, Field(ge=4)] = 16
    exponent: Annotated[float, Field(ge=0)] = 0.8
    strictness: Annotated[float, Field(ge=1)] = 8.0
    spread: Annotated[float, Field(ge=0)] = 1.0

    @model_validator(mode="after")
    def _large_enough(self) -> "WorldSettings":
        fewest = min(self.nouns, self.transitive, self.adjectives)
        if self.classes > fewest:
            raise ValueError(f"{self.classes} classes for {fewest} words of the smallest kind: some would be empty")
        if self.shortest > self.longest:
            raise ValueError(f"the shortest structures ({self.shortest}) are longer than the longest ({self.longest})")
        return self

    @property
    def sizes(self) -> Mapping[str, int]:
        """Concepts of each kind."""
        return {
            "noun": self.nouns,
            "transitive": self.transitive,
            "intransitive": self.intransitive,
            "clausal": self.clausal,
            "adjective": self.adjectives,
            "adverb": self.adverbs,
            "first_name": self.first_names,
            "surname": self.surnames,
            "place": self.places,
            "organisation": self.organisations,
            "pronoun": 4,
            "determiner": 3,
            "numeral": 8,
            "adposition": 6,
            "genitive": 1,
            "accusative": 1,
            "auxiliary": 3,
            "conjunction": 2,
            "subordinator": 2,
            "full_stop": 1,
        }


@dataclass(frozen=True, eq=False)
class World:
    """A world, drawn from its seed.

    Attributes:
        settings: its size.
        seed: of everything in it.
    """

    settings: WorldSettings
    seed: int

    @cached_property
    def first(self) -> dict[str, int]:
        """The number of each kind's first concept: concepts are counted through, kind by kind."""
        starts = np.cumsum([0, *self.settings.sizes.values()])
        return {kind: int(start) for kind, start in zip(self.settings.sizes, starts, strict=False)}

    @cached_property
    def concepts(self) -> tuple[tuple[str, int], ...]:
        """Every concept as its kind and its rank of frequency in it, 0 being the commonest."""
        return tuple((kind, rank) for kind, size in self.settings.sizes.items() for rank in range(size))

    @cached_property
    def trees(self) -> list[Tree]:
        """The sentence structures of raw text and train sets."""
        return self.draw_trees("trees", accept=lambda tree: True)

    def draw_trees(self, stream: str, *, accept: Callable[[Tree], bool]) -> list[Tree]:
        """Draw sentence structures.

        Args:
            stream: name of the random stream.
            accept: whether a structure is kept.

        Returns:
            As many structures as the settings ask for.

        Raises:
            RequestError: when there are too few acceptable ones.
        """
        return draw_trees(
            self.settings.trees,
            shortest=self.settings.shortest,
            longest=self.settings.longest,
            generator=self._generator(stream),
            accept=accept,
        )

    def topic(self, kind: str, rank: np.ndarray) -> np.ndarray:
        """The semantic class of concepts of a kind."""
        return (rank + stream_seed(self.seed, "class", kind) % self.settings.classes) % self.settings.classes

    def fill(self, tree: Tree, count: int, generator: np.random.Generator) -> np.ndarray:
        """Draw concepts for a structure.

        Args:
            tree: the structure.
            count: how many times.
            generator: what is drawn from.

        Returns:
            ``(count, nodes)`` int64 numbers of concepts.
        """
        drawn = np.empty((count, len(tree)), np.int64)
        for place in range(len(tree)):
            drawn[:, place] = self._dependents(tree, place, drawn, generator)
        return drawn

    def draw_dependent(self, tree: Tree, place: int, concepts: np.ndarray, generator: np.random.Generator) -> int:
        """Another concept for one node of a structure that is filled already, as its head prefers them."""
        return int(self._dependents(tree, place, concepts[None], generator)[0])

    def _dependents(self, tree: Tree, place: int, drawn: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        node, count = tree[place], len(drawn)
        head = tree[node.head].kind if node.head >= 0 else None
        rows = drawn[:, node.head] - self.first[head] if head else np.zeros(count, np.int64)
        table = self._cumulative(head, node.relation, node.kind)
        # Row r of the table lies between r and r + 1, so one search finds the place in every row at once.
        chosen = np.searchsorted(table.ravel(), rows + generator.random(count), side="right") - rows * table.shape[1]
        return self.first[node.kind] + np.minimum(chosen, table.shape[1] - 1)

    def _cumulative(self, head: str | None, relation: str, kind: str) -> np.ndarray:
        key = (head, relation, kind)
        if key not in self._tables:
            weights = self._preferences(head, relation, kind)
            sums = np.cumsum(weights / weights.sum(1, keepdims=True), axis=1)
            sums[:, -1] = 1.0
            self._tables[key] = sums + np.arange(len(sums))[:, None]
        return self._tables[key]

    @cached_property
    def _tables(self) -> dict[tuple[str | None, str, str], np.ndarray]:
        return {}

    def _preferences(self, head: str | None, relation: str, kind: str) -> np.ndarray:
        """``(concepts of the head's kind, concepts of the kind)`` weights; one row where there is no head."""
        sizes, settings = self.settings.sizes, self.settings
        rows = sizes[head] if head else 1
        zipf = (np.arange(sizes[kind]) + 1.0) ** -settings.exponent
        generator = self._generator("preferences", head or "", relation, kind)
        weights = zipf * np.exp(settings.spread * generator.standard_normal((rows, sizes[kind])))
        if head and KINDS[head].content and KINDS[kind].content:
            # Each class of heads goes with two classes of dependents.
            liked = np.stack([generator.permutation(settings.classes)[:2] for _ in range(settings.classes)])
            preferred = liked[self.topic(head, np.arange(rows))]
            fits = (self.topic(kind, np.arange(sizes[kind]))[None, :, None] == preferred[:, None, :]).any(-1)
            weights = np.where(fits, settings.strictness, 1.0) * weights
        return weights

    def _generator(self, *path: str) -> np.random.Generator:
        return np.random.default_rng(stream_seed(self.seed, "world", *path))
