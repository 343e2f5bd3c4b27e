"""Grammar of an artificial language: word order, optional word classes, inflection and script."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel

from crosslens.lab.grammar import KINDS, Tree

Side = Literal["before", "after"]
Script = Literal["latin", "cyrillic", "greek", "hebrew", "georgian"]

OPTIONAL = {"determiner": "determiners", "auxiliary": "auxiliaries", "accusative": "accusative"}
"""Word class that a language may lack -> the setting of `Language` for it."""


class Language(BaseModel, frozen=True, extra="forbid"):
    """Grammar of an artificial language.

    Attributes:
        order: basic order of subject, verb and object.
        adjective: position of adjectives relative to the noun.
        adposition: position of adpositions and case markers relative to the noun phrase.
        genitive: position of genitives relative to the noun.
        relative: position of relative clauses relative to the noun.
        adverb: position of adverbs relative to the verb.
        determiners: whether the language has determiners.
        auxiliaries: whether the language has auxiliaries.
        accusative: whether the language marks objects.
        suffixes: whether suffixes mark number and tense.
        script: script of the words that are not shared.
    """

    order: Literal["SVO", "SOV", "VSO", "VOS", "OVS", "OSV"] = "SVO"
    adjective: Side = "before"
    adposition: Side = "before"
    genitive: Side = "after"
    relative: Side = "after"
    adverb: Side = "after"
    determiners: bool = True
    auxiliaries: bool = True
    accusative: bool = False
    suffixes: bool = False
    script: Script = "latin"

    def says(self, kind: str) -> bool:
        """Whether the language has words of this class."""
        return kind not in OPTIONAL or getattr(self, OPTIONAL[kind])

    def linear(self, tree: Tree) -> list[int]:
        """Linearise a tree: indices of the expressed nodes in word order, which is projective."""
        return list(_linear(self, tree))

    def pattern(self, tree: Tree) -> tuple[str, ...]:
        """Sequence of coarse word classes of a linearised tree; sentences with different patterns differ.

        All content words form one class, because homonyms have the form of content words of other parts of speech. The
        other words of a language share no form across parts of speech, except by chance through suffixes. Another
        language may use any of them as a false friend.
        """
        kinds = (KINDS[tree[place].kind] for place in self.linear(tree))
        return tuple("content" if kind.content else kind.upos for kind in kinds)

    def distance(self, relation: str) -> float:
        """Relative distance of a dependent from its head; negative: before the head."""
        if relation in ("nsubj", "obj", "obl"):
            steps = self.order.index("S" if relation == "nsubj" else "O") - self.order.index("V")
            distance = 3.0 * steps
            if relation == "obl":  # beyond the object
                distance += 1.0 if distance > 0 else -1.0
            return distance
        sides = {
            "amod": self.adjective,
            "case": self.adposition,
            "nmod": self.genitive,
            "acl:relcl": self.relative,
            "advmod": self.adverb,
            "aux": "after" if self.order.endswith("V") else "before",
        }
        distance = _DISTANCES[relation]
        return distance if sides.get(relation, "after" if distance > 0 else "before") == "after" else -abs(distance)


@lru_cache(maxsize=10_000)  # many sentences have one tree
def _linear(language: Language, tree: Tree) -> tuple[int, ...]:
    dependents: list[list[tuple[float, int]]] = [[] for _ in tree]
    for place, node in enumerate(tree):
        if node.head >= 0 and language.says(node.kind):
            dependents[node.head].append((language.distance(node.relation), place))

    def subtree(head: int) -> list[int]:
        ordered = sorted(dependents[head])
        left = [word for distance, node in ordered if distance < 0 for word in subtree(node)]
        return [*left, head, *(word for distance, node in ordered if distance > 0 for word in subtree(node))]

    return tuple(subtree(0))


_DISTANCES = {
    "aux": 1.0,
    "advmod": 2.0,
    "ccomp": 9.0,
    "mark": -10.0,
    "punct": 11.0,  # of a verb
    "flat": 1.0,
    "amod": 2.0,
    "nummod": -3.0,
    "det": -4.0,
    "nmod": 5.0,
    "acl:relcl": 6.0,
    "conj": 7.0,
    "case": 8.0,
    "cc": -9.0,
}
"""Distance from the head for relations that the basic word order leaves open; negative: before the head."""


def heads_of(tree: Tree, order: Sequence[int]) -> list[int]:
    """Head of each word in linear order, counted from 1; 0 for the root."""
    number = {place: word for word, place in enumerate(order, start=1)}
    return [number[tree[place].head] if tree[place].head >= 0 else 0 for place in order]
