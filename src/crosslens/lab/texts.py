"""Text-level tasks in artificial languages: topic classification and natural language inference.

Documents and sentence pairs use the generator of the treebanks. Test sets are parallel across languages.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crosslens.errors import RequestError
from crosslens.lab.grammar import Node, Tree
from crosslens.lab.world import World

DOCUMENT = 3
"""Sentences per document."""

LABELS = ("entailment", "neutral", "contradiction")
"""NLI labels. A hypothesis is its premise with modifiers removed (entailment), then with another object (neutral) or
with subject and object swapped (contradiction)."""

ATTEMPTS = 10_000
"""Objects drawn for a verb after which a neutral hypothesis fails."""

REMOVABLE = ("amod", "nummod", "obl", "advmod", "acl:relcl", "nmod", "conj")
"""Relations of modifiers whose removal gives an entailed sentence."""

Meaning = tuple[Tree, np.ndarray, np.ndarray]
"""Language-independent sentence: tree, ``(nodes,)`` concepts, and ``(nodes,)`` 0 or 1 for number and tense."""


def sentence_topic(world: World, meaning: Meaning) -> int | None:
    """Most frequent semantic class of a sentence's nouns, the lowest in a tie; None without a noun."""
    tree, concepts, _ = meaning
    ranks = [int(concepts[place]) - world.first["noun"] for place, node in enumerate(tree) if node.kind == "noun"]
    if not ranks:
        return None
    return int(np.bincount(world.topic("noun", np.asarray(ranks))).argmax())


def draw_documents(
    world: World, meanings: Sequence[Meaning], count: int, generator: np.random.Generator
) -> list[tuple[str, list[Meaning]]]:
    """Sample documents whose sentences share a topic.

    Args:
        meanings: sentences to sample from; a sentence may occur in several documents.

    Returns:
        The topic label and the sentences of each document.

    Raises:
        RequestError: if no topic has enough sentences.
    """
    by_topic: dict[int, list[Meaning]] = {}
    for meaning in meanings:
        topic = sentence_topic(world, meaning)
        if topic is not None:
            by_topic.setdefault(topic, []).append(meaning)
    topics = sorted(topic for topic, sentences in by_topic.items() if len(sentences) >= DOCUMENT)
    if not topics:
        raise RequestError(
            f"no topic has {DOCUMENT} sentences with a noun, as a document needs",
            hint="increase world.trees or world.longest",
        )
    documents = []
    for _ in range(count):
        topic = topics[generator.integers(len(topics))]
        chosen = generator.choice(len(by_topic[topic]), DOCUMENT, replace=False)
        documents.append((f"topic-{topic}", [by_topic[topic][i] for i in chosen]))
    return documents


def fits_pair(tree: Tree) -> bool:
    """Whether a tree can be a premise: it has a subject noun, an object noun and a removable modifier."""
    return _roles(tree) is not None and any(node.relation in REMOVABLE for node in tree)


def is_premise(meaning: Meaning) -> bool:
    """Whether a sentence can be a premise: its tree `fits_pair`, and its subject and object are different nouns.

    Swapping a noun with itself would contradict nothing.
    """
    tree, concepts, _ = meaning
    roles = _roles(tree) if fits_pair(tree) else None
    return roles is not None and concepts[roles[0]] != concepts[roles[1]]


def draw_pair(world: World, premise: Meaning, label: str, generator: np.random.Generator) -> Meaning:
    """Generate a hypothesis for a premise.

    Every hypothesis loses at least one modifier, so its length does not reveal the label. For ``contradiction``,
    subject and object are then swapped; for ``neutral``, another object is sampled for the verb.

    Args:
        premise: sentence that `is_premise` accepts.
        label: one of `LABELS`.

    Raises:
        RequestError: if the verb has no other object in `ATTEMPTS` draws.
    """
    tree, concepts, marks = _without_modifiers(premise, generator)
    roles = _roles(tree)
    assert roles is not None
    subject, object_ = roles
    if label == "contradiction":
        concepts[[subject, object_]], marks[[subject, object_]] = (
            concepts[[object_, subject]],
            marks[[object_, subject]],
        )
    if label == "neutral":
        excluded = {int(concepts[subject]), int(concepts[object_])}
        for _ in range(ATTEMPTS):
            concepts[object_] = world.draw_dependent(tree, object_, concepts, generator)
            if int(concepts[object_]) not in excluded:
                break
        else:
            raise RequestError(
                f"of {ATTEMPTS:,} objects of a verb, all are of the same two nouns",
                hint="decrease world.exponent, world.strictness or world.spread",
            )
    return tree, concepts, marks


def _roles(tree: Tree) -> tuple[int, int] | None:
    """Indices of the main verb's subject and object; None unless it is transitive and both are nouns."""
    if tree[0].kind != "transitive":
        return None
    arguments = {node.relation: place for place, node in enumerate(tree) if node.head == 0 and node.kind == "noun"}
    return (arguments["nsubj"], arguments["obj"]) if {"nsubj", "obj"} <= set(arguments) else None


def _without_modifiers(meaning: Meaning, generator: np.random.Generator) -> Meaning:
    """Remove at least one random modifier with its subtree."""
    tree, concepts, marks = meaning
    removable = [index for index, node in enumerate(tree) if node.relation in REMOVABLE]
    removed = set(generator.permutation(removable)[: generator.integers(1, len(removable) + 1)].tolist())
    for index, node in enumerate(tree):  # heads come before their dependents
        if node.head in removed:
            removed.add(index)
    kept = [index for index in range(len(tree)) if index not in removed]
    new_index = {old: new for new, old in enumerate(kept)}
    shorter: list[Node] = [replace(tree[index], head=new_index.get(tree[index].head, -1)) for index in kept]
    return tuple(shorter), concepts[kept], marks[kept]
