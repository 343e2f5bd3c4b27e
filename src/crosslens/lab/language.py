"""How a language says a tree: which nodes it expresses, and in what order."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from crosslens.lab.grammar import KINDS, Tree

Side = Literal["before", "after"]
Script = Literal["latin", "cyrillic", "greek", "hebrew", "georgian"]

OPTIONAL = {"determiner": "determiners", "auxiliary": "auxiliaries", "accusative": "accusative"}
"""Kinds of words that a language may lack, and the setting that says so."""


class Language(BaseModel):
    """A language's grammar.

    Attributes:
        order: of subject, verb and object.
        adjective: its side of the noun.
        adposition: its side of the noun phrase, and that of case markers.
        genitive: the side of the noun on which its owner stands.
        relative: the relative clause's side of the noun.
        adverb: its side of the verb.
        determiners: whether there are any.
        auxiliaries: whether there are any.
        accusative: whether objects are marked.
        suffixes: whether number and tense are suffixes of the word.
        script: that its own words are written in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        """Whether the language expresses words of this kind."""
        return kind not in OPTIONAL or getattr(self, OPTIONAL[kind])

    def linear(self, tree: Tree) -> list[int]:
        """The nodes that are expressed, in the order in which they are said; every subtree is one stretch."""
        dependents: list[list[tuple[float, int]]] = [[] for _ in tree]
        for place, node in enumerate(tree):
            if node.head >= 0 and self.says(node.kind):
                dependents[node.head].append((self._distance(node.relation), place))

        def said(place: int) -> list[int]:
            own = sorted(dependents[place])
            left = [word for distance, dependent in own if distance < 0 for word in said(dependent)]
            return [*left, place, *(word for distance, dependent in own if distance > 0 for word in said(dependent))]

        return said(0)

    def pattern(self, tree: Tree) -> tuple[str, ...]:
        """The word classes of a sentence of this structure, in order: two sentences of different patterns differ.

        All content words are of one class here, because homonyms and false friends sound like content words of other
        parts of speech. Other words sound like no word of another part of speech, but for an accident of suffixes.
        """
        kinds = (KINDS[tree[place].kind] for place in self.linear(tree))
        return tuple("content" if kind.content else kind.upos for kind in kinds)

    def _distance(self, relation: str) -> float:
        """How far from its head a dependent stands: before it below 0, the closest ones next to 0."""
        if relation in ("nsubj", "obj", "obl"):
            steps = self.order.index("S" if relation == "nsubj" else "O") - self.order.index("V")
            away = 3.0 * steps
            return away + (1.0 if away > 0 else -1.0) if relation == "obl" else away  # beyond the object
        side = {
            "amod": self.adjective,
            "case": self.adposition,
            "nmod": self.genitive,
            "acl:relcl": self.relative,
            "advmod": self.adverb,
            "aux": "after" if self.order.endswith("V") else "before",
        }
        distance = _DISTANCES[relation]
        return distance if side.get(relation, "after" if distance > 0 else "before") == "after" else -abs(distance)


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
"""Distance from the head of relations whose position does not follow from the basic word order; below 0: before it."""


def heads_of(tree: Tree, order: Sequence[int]) -> list[int]:
    """For each word of a linear order the number of its head, counted from 1; 0 for the root."""
    number = {place: word for word, place in enumerate(order, start=1)}
    return [number[tree[place].head] if tree[place].head >= 0 else 0 for place in order]
