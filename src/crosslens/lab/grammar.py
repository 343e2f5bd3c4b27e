"""Dependency trees over kinds of words, drawn from a small recursive grammar.

A tree holds every node that some language may express: determiners, auxiliaries and case markers too. Which of them
are overt, and in what order, is each language's business (`language.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crosslens.errors import RequestError

DEPTH = 2
"""Clauses and noun phrases within one another, at most."""

ATTEMPTS = 10_000
"""Consecutive draws without an acceptable tree after which there are taken to be none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of word.

    Attributes:
        upos: its universal part of speech.
        content: whether it is a lexical word, of which languages have their own, share some, and confuse some.
        entity: the type of named entity that such a word is or begins.
    """

    upos: str
    content: bool = False
    entity: str | None = None


KINDS: dict[str, Kind] = {
    "noun": Kind("NOUN", content=True),
    "transitive": Kind("VERB", content=True),
    "intransitive": Kind("VERB", content=True),
    "clausal": Kind("VERB", content=True),
    "adjective": Kind("ADJ", content=True),
    "adverb": Kind("ADV", content=True),
    "first_name": Kind("PROPN", entity="PER"),
    "surname": Kind("PROPN", entity="PER"),
    "place": Kind("PROPN", entity="LOC"),
    "organisation": Kind("PROPN", entity="ORG"),
    "pronoun": Kind("PRON"),
    "determiner": Kind("DET"),
    "numeral": Kind("NUM"),
    "adposition": Kind("ADP"),
    "genitive": Kind("ADP"),
    "accusative": Kind("ADP"),
    "auxiliary": Kind("AUX"),
    "conjunction": Kind("CCONJ"),
    "subordinator": Kind("SCONJ"),
    "full_stop": Kind("PUNCT"),
}


@dataclass(frozen=True, slots=True)
class Node:
    """A word of a tree, before anyone says it.

    Attributes:
        kind: one of `KINDS`.
        relation: to its head, as Universal Dependencies calls it.
        head: the head's place in the tree; -1 for the root.
    """

    kind: str
    relation: str
    head: int


Tree = tuple[Node, ...]
"""Nodes, every head before its dependents."""


def draw_trees(
    count: int,
    *,
    shortest: int,
    longest: int,
    generator: np.random.Generator,
    accept: Callable[[Tree], bool] = lambda tree: True,
) -> list[Tree]:
    """Draw trees at random; the same tree may be drawn more than once.

    Args:
        count: number of trees.
        shortest: smallest number of nodes.
        longest: largest number of nodes.
        generator: source of randomness.
        accept: whether a tree of a permitted size is kept.

    Raises:
        RequestError: when no acceptable tree is drawn in `ATTEMPTS` attempts.
    """
    trees: list[Tree] = []
    failed = 0
    while len(trees) < count:
        nodes: list[Node] = []
        _clause(nodes, -1, "root", 0, generator)
        nodes.append(Node("full_stop", "punct", 0))
        if shortest <= len(nodes) <= longest and accept(tuple(nodes)):
            trees.append(tuple(nodes))
            failed = 0
        elif (failed := failed + 1) == ATTEMPTS:
            raise RequestError(
                f"the grammar has too few sentence structures of {shortest} to {longest} words",
                hint="decrease world.trees or increase world.longest",
            )
    return trees


def _clause(nodes: list[Node], head: int, relation: str, depth: int, generator: np.random.Generator) -> None:
    verb = _one_of(generator, transitive=0.6, intransitive=0.28, clausal=0.12 if depth < DEPTH else 0.0)
    place = _add(nodes, verb, relation, head)
    if relation in ("ccomp", "acl:relcl"):
        _add(nodes, "subordinator", "mark", place)
    if relation != "acl:relcl":  # its subject is the noun that it describes
        _noun_phrase(nodes, place, "nsubj", depth, generator)
    if verb == "transitive":
        _noun_phrase(nodes, place, "obj", depth, generator)
    if verb == "clausal":
        _clause(nodes, place, "ccomp", depth + 1, generator)
    if generator.random() < 0.35:
        _noun_phrase(nodes, place, "obl", depth, generator)
    if generator.random() < 0.3:
        _add(nodes, "adverb", "advmod", place)
    if generator.random() < 0.35:
        _add(nodes, "auxiliary", "aux", place)


def _noun_phrase(nodes: list[Node], head: int, relation: str, depth: int, generator: np.random.Generator) -> None:
    named = 0.0 if relation == "nmod" else 0.25
    what = _one_of(
        generator, noun=0.85 - named, pronoun=0.0 if relation in ("nmod", "obl", "conj") else 0.15, name=named
    )
    if what == "name":
        at_home = 3.0 if relation == "obl" else 1.0  # places are where things happen
        name = _one_of(generator, first_name=2.0, place=at_home, organisation=1.0)
        place = _add(nodes, name, relation, head)
        if name == "first_name" and generator.random() < 0.5:
            _add(nodes, "surname", "flat", place)
    else:
        place = _add(nodes, what, relation, head)
    marker = {"obl": "adposition", "nmod": "genitive", "obj": "accusative"}.get(relation)
    if marker:
        _add(nodes, marker, "case", place)
    if what == "noun":
        _describe(nodes, place, depth, generator)
    if relation != "conj" and generator.random() < 0.1:
        other = len(nodes)
        _noun_phrase(nodes, place, "conj", DEPTH, generator)
        _add(nodes, "conjunction", "cc", other)


def _describe(nodes: list[Node], noun: int, depth: int, generator: np.random.Generator) -> None:
    counted = _one_of(generator, determiner=0.45, numeral=0.15, neither=0.4)
    if counted != "neither":
        _add(nodes, counted, "det" if counted == "determiner" else "nummod", noun)
    if generator.random() < 0.35:
        _add(nodes, "adjective", "amod", noun)
    if depth < DEPTH and generator.random() < 0.18:
        _noun_phrase(nodes, noun, "nmod", depth + 1, generator)
    elif depth < DEPTH and generator.random() < 0.1:
        _clause(nodes, noun, "acl:relcl", depth + 1, generator)


def _add(nodes: list[Node], kind: str, relation: str, head: int) -> int:
    nodes.append(Node(kind, relation, head))
    return len(nodes) - 1


def _one_of(generator: np.random.Generator, **weights: float) -> str:
    total = sum(weights.values())
    drawn = generator.random() * total
    for name, weight in weights.items():
        drawn -= weight
        if drawn < 0:
            return name
    return max(weights, key=lambda name: weights[name])
