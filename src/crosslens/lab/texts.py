"""What is asked of whole texts: the topic of a document, and whether one sentence follows from another.

Both come from the generator that the treebanks come from, and are parallel where those are: the test sets of all
languages are translations of one another.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crosslens.lab.grammar import Node, Tree
from crosslens.lab.world import World

DOCUMENT = 3
"""Sentences of a document."""

LABELS = ("entailment", "neutral", "contradiction")
"""Whether the premise says the hypothesis, leaves it open, or says it the other way round."""

LEFT_OUT = ("amod", "nummod", "obl", "advmod", "acl:relcl", "nmod", "conj")
"""What a sentence may lose and still be said by the longer one."""

Meaning = tuple[Tree, np.ndarray, np.ndarray]
"""A sentence before anyone says it: structure, concepts, and what is drawn for number and tense."""


def sentence_topic(world: World, meaning: Meaning) -> int | None:
    """The semantic class that most of a sentence's nouns are of, the lowest of equals; None without a noun."""
    tree, concepts, _ = meaning
    ranks = [int(concepts[place]) - world.first["noun"] for place, node in enumerate(tree) if node.kind == "noun"]
    if not ranks:
        return None
    return int(np.bincount(world.topic("noun", np.asarray(ranks))).argmax())


def draw_documents(
    world: World, meanings: Sequence[Meaning], count: int, generator: np.random.Generator
) -> list[tuple[str, list[Meaning]]]:
    """Documents of one topic each: its name, and sentences whose nouns are mostly of that class.

    Args:
        world: whose classes.
        meanings: sentences that documents are put together from; one may be in several.
        count: of documents.
        generator: what is drawn from.
    """
    by_topic: dict[int, list[Meaning]] = {}
    for meaning in meanings:
        topic = sentence_topic(world, meaning)
        if topic is not None:
            by_topic.setdefault(topic, []).append(meaning)
    topics = sorted(topic for topic, documents in by_topic.items() if len(documents) >= DOCUMENT)
    documents = []
    for _ in range(count):
        topic = topics[generator.integers(len(topics))]
        chosen = generator.choice(len(by_topic[topic]), DOCUMENT, replace=False)
        documents.append((f"topic-{topic}", [by_topic[topic][i] for i in chosen]))
    return documents


def fits_pair(tree: Tree) -> bool:
    """Whether pairs can be made of a structure: two nouns that can change places, and something to leave out."""
    return _roles(tree) is not None and any(node.relation in LEFT_OUT for node in tree)


def draw_pair(world: World, premise: Meaning, label: str, generator: np.random.Generator) -> Meaning:
    """The hypothesis of a premise, shorter whatever the label, so that its length says nothing.

    It leaves something out; then for ``contradiction`` subject and object change places, and for ``neutral`` the
    object is another one that the verb takes.

    Args:
        world: whose concepts.
        premise: of a structure that `fits_pair`.
        label: one of `LABELS`.
        generator: what is drawn from.
    """
    tree, concepts, marks = _shortened(premise, generator)
    roles = _roles(tree)
    assert roles is not None
    subject, thing = roles
    concepts, marks = concepts.copy(), marks.copy()
    if label == "contradiction":
        concepts[[subject, thing]], marks[[subject, thing]] = concepts[[thing, subject]], marks[[thing, subject]]
    if label == "neutral":
        there = {int(concepts[subject]), int(concepts[thing])}
        while int(concepts[thing]) in there:
            concepts[thing] = world.draw_dependent(tree, thing, concepts, generator)
    return tree, concepts, marks


def _roles(tree: Tree) -> tuple[int, int] | None:
    """The places of the main verb's subject and object, where both are nouns."""
    if tree[0].kind != "transitive":
        return None
    arguments = {node.relation: place for place, node in enumerate(tree) if node.head == 0 and node.kind == "noun"}
    return (arguments["nsubj"], arguments["obj"]) if {"nsubj", "obj"} <= set(arguments) else None


def _shortened(meaning: Meaning, generator: np.random.Generator) -> Meaning:
    """A sentence without some of what it can do without: one thing at least."""
    tree, concepts, marks = meaning
    optional = [place for place, node in enumerate(tree) if node.relation in LEFT_OUT]
    out = set(generator.permutation(optional)[: generator.integers(1, len(optional) + 1)].tolist())
    for place, node in enumerate(tree):  # what hangs from it goes too; heads come before their dependents
        if node.head in out:
            out.add(place)
    kept = [place for place in range(len(tree)) if place not in out]
    number = {place: new for new, place in enumerate(kept)}
    shorter: list[Node] = [replace(tree[place], head=number.get(tree[place].head, -1)) for place in kept]
    return tuple(shorter), concepts[kept], marks[kept]
