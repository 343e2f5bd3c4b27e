"""Concepts shared by all artificial languages, with Zipfian frequencies and selectional preferences.

Concepts are sampled for the nodes of a tree, each conditioned on the concept of its head: verbs prefer subjects and
objects of some semantic classes, and adjectives prefer nouns of some. These preferences and the frequencies are the
only distributional evidence of word meaning, and are the same in every language.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from crosslens.digests import stream_seed
from crosslens.lab.grammar import KINDS, Tree, draw_trees
from crosslens.settings import Strict

Some = Annotated[int, Field(ge=1, le=1000)]
"""A number of concepts; of more, short words and memory would run out."""


class WorldSettings(Strict):
    """Number of concepts and strength of selectional preferences.

    Attributes:
        nouns: number of nouns.
        classes: number of semantic classes of nouns, adjectives and verbs.
        transitive: number of verbs that take an object.
        intransitive: number of verbs without a complement.
        clausal: number of verbs that take a clause.
        adjectives: number of adjectives.
        adverbs: number of adverbs.
        first_names: number of first names.
        surnames: number of surnames.
        places: number of place names.
        organisations: number of names of organisations.
        namesakes: fraction of the organisations that get the name of a place, told apart only by context, where all
            languages share both names.
        trees: number of trees in each split; raw text has the trees of ``train``.
        shortest: minimum number of nodes in a tree.
        longest: maximum number of nodes in a tree.
        exponent: exponent of Zipf's law.
        strictness: factor by which the weight of concepts of preferred classes is multiplied.
        spread: standard deviation of the random log weight of each pair of head and dependent.
    """

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
    trees: Annotated[int, Field(ge=1)] = 300
    shortest: Annotated[int, Field(ge=3)] = 4
    longest: Annotated[int, Field(ge=4)] = 16
    exponent: Annotated[float, Field(ge=0, le=10)] = 0.8
    strictness: Annotated[float, Field(ge=1, le=1e6)] = 8.0
    spread: Annotated[float, Field(ge=0, le=10)] = 1.0

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
        """Number of concepts of each word class."""
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
    """Concepts, trees and selectional preferences, generated from a seed."""

    settings: WorldSettings
    seed: int

    @cached_property
    def first(self) -> dict[str, int]:
        """Number of the first concept of each word class; concepts are numbered class by class."""
        starts = np.cumsum([0, *self.settings.sizes.values()])
        return {kind: int(start) for kind, start in zip(self.settings.sizes, starts, strict=False)}

    @cached_property
    def concepts(self) -> tuple[tuple[str, int], ...]:
        """Word class and frequency rank of each concept; rank 0 is the most frequent."""
        return tuple((kind, rank) for kind, size in self.settings.sizes.items() for rank in range(size))

    @cached_property
    def trees(self) -> list[Tree]:
        """Trees of raw text and training sets."""
        return self.draw_trees("trees", accept=lambda tree: True)

    def draw_trees(self, stream: str, *, accept: Callable[[Tree], bool]) -> list[Tree]:
        """Generate ``settings.trees`` random trees.

        Args:
            accept: filter for trees.

        Raises:
            RequestError: if too few trees are accepted.
        """
        return draw_trees(
            self.settings.trees,
            shortest=self.settings.shortest,
            longest=self.settings.longest,
            generator=self._generator(stream),
            accept=accept,
        )

    def topic(self, kind: str, rank: np.ndarray) -> np.ndarray:
        """Semantic classes of concepts of a word class, by frequency rank."""
        return (rank + stream_seed(self.seed, "class", kind) % self.settings.classes) % self.settings.classes

    def fill(self, tree: Tree, uniform: np.ndarray) -> np.ndarray:
        """Sample concepts for the nodes of a tree.

        Args:
            uniform: ``(count, nodes)`` random numbers between 0 and 1, one for each concept.

        Returns:
            ``(count, nodes)`` int64 numbers of concepts.
        """
        concepts = np.empty(uniform.shape, np.int64)
        for place in range(len(tree)):
            concepts[:, place] = self._dependents(tree, place, concepts, uniform[:, place])
        return concepts

    def draw_dependent(self, tree: Tree, place: int, concepts: np.ndarray, generator: np.random.Generator) -> int:
        """Sample a concept for one node of a filled tree, given its head."""
        return int(self._dependents(tree, place, concepts[None], generator.random(1))[0])

    def _dependents(self, tree: Tree, place: int, concepts: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """``(count,)`` concepts for a node, given ``(count, nodes)`` concepts of the nodes before it."""
        node, count = tree[place], len(concepts)
        head = tree[node.head].kind if node.head >= 0 else None
        rows = concepts[:, node.head] - self.first[head] if head else np.zeros(count, np.int64)
        table = self._cumulative(head, node.relation, node.kind)
        # Row r of the table lies between r and r + 1, so a single search covers all rows.
        ranks = np.searchsorted(table.ravel(), rows + uniform, side="right") - rows * table.shape[1]
        return self.first[node.kind] + np.minimum(ranks, table.shape[1] - 1)

    def _cumulative(self, head: str | None, relation: str, kind: str) -> np.ndarray:
        """Cumulative probabilities of `_preferences`, plus the row number."""
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
        """``(concepts of the head's class, concepts of the class)`` weights; a single row for the root."""
        sizes, settings = self.settings.sizes, self.settings
        rows = sizes[head] if head else 1
        zipf = (np.arange(sizes[kind]) + 1.0) ** -settings.exponent
        generator = self._generator("preferences", head or "", relation, kind)
        weights = zipf * np.exp(settings.spread * generator.standard_normal((rows, sizes[kind])))
        if head and KINDS[head].content and KINDS[kind].content:
            # Each semantic class of heads prefers two classes of dependents.
            by_class = np.stack([generator.permutation(settings.classes)[:2] for _ in range(settings.classes)])
            preferred = by_class[self.topic(head, np.arange(rows))]
            fits = (self.topic(kind, np.arange(sizes[kind]))[None, :, None] == preferred[:, None, :]).any(-1)
            weights = np.where(fits, settings.strictness, 1.0) * weights
        return weights

    def _generator(self, *path: str) -> np.random.Generator:
        return np.random.default_rng(stream_seed(self.seed, "world", *path))
