"""Decode dependency trees from the log-probability of every head for every word.

The most probable head of each word usually gives a tree with one root. Otherwise the maximum spanning tree with exactly
one root is computed (Chu & Liu 1965, Edmonds 1967). The sentences of a batch are decoded together: every step contracts
one cycle in each of them.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

Decode = Literal["tree", "greedy"]
"""The best tree with one root, or the most probable head of each word."""

Root = Literal["learnt", "wu2019-masked"]
"""Whether attachment to the root is trained; see `crosslens.tasks.parsing.Parsing`."""


def best_trees(scores: np.ndarray, lengths: Sequence[int]) -> list[np.ndarray]:
    """Find the highest-scoring tree with one root for each sentence of a batch.

    >>> scores = np.array([[[-1.0, 0.0, -2.0], [-0.5, -1.0, 0.0]]])  # both words prefer the root
    >>> best_trees(scores, [2])[0].tolist()
    [0, 1]

    Args:
        scores: score of each head (0 is the root, 1 the first word) for each word, ``(sentences, words, words + 1)``
            float64; -inf forbids an arc. Words as their own heads and positions beyond the length are ignored.
        lengths: number of words of each sentence.

    Returns:
        Heads of each sentence, ``(length,)``; 0 for the root word.
    """
    heads, are_trees = greedy_heads(scores, lengths)
    remaining = np.flatnonzero(~are_trees)
    if len(remaining):
        sizes = np.asarray(lengths)[remaining]
        trees = _spanning_trees(scores[remaining, : sizes.max(), : sizes.max() + 1], sizes)
        for row, size, tree in zip(remaining, sizes, trees, strict=True):
            heads[row] = tree[1 : size + 1]
    return heads


def greedy_heads(scores: np.ndarray, lengths: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
    """Find the most probable head of each word, and whether these heads form a tree with one root.

    Args:
        scores: as in `best_trees`.

    Returns:
        Heads of each sentence, ``(length,)``, and whether they form a tree, ``(sentences,)`` bool.
    """
    best = _weights(scores, np.asarray(lengths)).argmax(2)
    words = np.arange(best.shape[1]) <= np.asarray(lengths)[:, None]
    one_root = (words & (best == 0)).sum(1) == 2  # the root itself, and one word
    are_trees = one_root & (_ancestors(best) == 0).all(1)
    return [row[1 : size + 1] for row, size in zip(best, lengths, strict=True)], are_trees


def _weights(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Weight of each head for each node, ``(sentences, nodes, nodes)``; node 0 is the root, impossible arcs are -inf.

    The root and padding are attached to the root.
    """
    sentences, _, nodes = scores.shape
    weight = np.full((sentences, nodes, nodes), -np.inf)
    weight[:, 1:] = scores
    padding = np.arange(nodes) > lengths[:, None]
    weight[padding] = -np.inf
    weight.transpose(0, 2, 1)[padding] = -np.inf
    words = np.arange(1, nodes)
    weight[:, words, words] = -np.inf
    weight[:, 0, 0] = 0.0
    weight[:, :, 0][padding] = 0.0
    return weight


def _ancestors(best: np.ndarray) -> np.ndarray:
    """Distant ancestor of each node, ``(sentences, nodes)``: the root, or a node on a cycle."""
    sentences, nodes = best.shape
    offsets = nodes * np.arange(sentences)[:, None]  # number the nodes of all sentences consecutively
    ancestors = (best + offsets).ravel()
    for _ in range(nodes.bit_length()):  # 1, 2, 4, … steps up
        ancestors = ancestors[ancestors]
    return ancestors.reshape(best.shape) - offsets


def _spanning_trees(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Heads of the best trees with one root, ``(sentences, nodes)``.

    Every arc from the root has a price. Whatever the price, an optimal tree that pays it once is the best tree with one
    root. The first price is one that a single word would still pay, which nearly always suffices and leaves few cycles
    to contract. Otherwise the price is raised, at most until a second root costs more than all other arcs gain.
    """
    weight = _weights(scores, lengths)
    words = np.arange(1, weight.shape[1]) <= lengths[:, None]
    gains = np.where(words, weight[:, 1:, 0] - weight[:, 1:, 1:].max(2), -np.inf)
    largest = np.sort(gains, axis=1)[:, -2:]
    price = np.where(np.isfinite(largest).all(1), largest.mean(1), 0.0)
    lowest = np.where(np.isneginf(weight), np.inf, weight).min((1, 2))
    highest = weight.shape[1] * (weight.max((1, 2)) - lowest) + 1
    heads = np.zeros(weight.shape[:2], np.int64)
    rows = np.arange(len(weight))
    step = 5.0
    while len(rows):
        heads[rows] = _arborescences(weight[rows], price[rows])
        several = (words[rows] & (heads[rows, 1:] == 0)).sum(1) > 1
        rows = rows[several & (price[rows] < highest[rows])]
        price = np.minimum(price + step, highest)
        step *= 4
    return heads


def _arborescences(weight: np.ndarray, price: np.ndarray) -> np.ndarray:
    """Heads of the maximum spanning trees, with any number of roots, ``(sentences, nodes)``.

    A cycle is contracted in place into its first node. The row and column of that node then hold the best arcs into and
    out of the cycle, and ``origin`` holds the original arc, as dependent * nodes + head.

    Args:
        weight: from `_weights`.
        price: subtracted from every arc from the root, ``(sentences,)``.
    """
    weight = weight.copy()
    weight[:, 1:, 0] -= price[:, None]
    sentences, nodes, _ = weight.shape
    origin = np.tile(np.arange(nodes * nodes, dtype=np.int32).reshape(nodes, nodes), (sentences, 1, 1))
    owner = np.tile(np.arange(nodes), (sentences, 1))  # the node that each node has been contracted into
    best = weight.argmax(2)
    best[:, 0] = 0
    node = np.arange(nodes)
    contracted = []
    live = np.arange(sentences)  # sentences that still had a cycle in the previous step
    while len((cycles := _cycles(best[live]))[0]):
        live, cycle = live[cycles[0]], cycles[1]
        at, row, first = live[:, None], np.arange(len(live))[:, None], cycle[:, :1]
        heads = best[at, cycle]
        contracted.append((live, cycle, origin[at, cycle, heads], owner[live]))
        # An arc that enters the cycle replaces the arc within the cycle to the same node.
        entering = weight[at, cycle] - weight[at, cycle, heads][:, :, None]
        leaving = weight[at[:, :, None], node[:, None], cycle[:, None, :]]
        entered, left = entering.argmax(1), leaving.argmax(2)
        origin_in, origin_out = origin[at, cycle[row, entered], node], origin[at, node, cycle[row, left]]
        weight[at, cycle] = -np.inf
        weight[at, :, cycle] = -np.inf
        weight[at, first, node], origin[at, first, node] = entering[row, entered, node], origin_in
        weight[at, node, first], origin[at, node, first] = leaving[row, node, left], origin_out
        weight[at, first, cycle], weight[at, cycle, first] = -np.inf, -np.inf
        inside = np.zeros((len(live), nodes), bool)
        inside[row, cycle] = True
        owner[live] = np.where(inside[row, owner[live]], first, owner[live])
        heads = np.where(inside[row, best[live]], first, best[live])
        heads[row, cycle] = 0
        heads[row, first] = weight[at, first].argmax(2)
        best[live] = heads
    chosen = np.take_along_axis(origin, best[:, :, None], axis=2)[:, :, 0]
    for live, cycle, kept, owners in reversed(contracted):
        entered = chosen[live, cycle[:, 0]]
        chosen[live[:, None], cycle] = kept
        chosen[live, owners[np.arange(len(live)), entered // nodes]] = entered
    return chosen % nodes


def _cycles(best: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sentences whose heads have a cycle, and the nodes of one cycle each, ``(sentences, longest cycle)``.

    Rows of shorter cycles are filled by repeating the cycle.
    """
    ancestors = _ancestors(best)
    start = ancestors[np.arange(len(best)), (ancestors > 0).argmax(1)]
    cyclic = np.flatnonzero(start)
    start = start[cyclic]
    cycle = [start]
    returned = np.zeros(len(cyclic), bool)
    while not (returned := returned | (best[cyclic, cycle[-1]] == start)).all():
        cycle.append(best[cyclic, cycle[-1]])
    return cyclic, np.stack(cycle, axis=1) if len(cyclic) else np.empty((0, 0), np.int64)
