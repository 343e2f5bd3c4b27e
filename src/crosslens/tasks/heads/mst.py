"""The best dependency tree of a sentence, from the log-probability of every head for every word.

Taking the likeliest head of each word gives a tree with one root more often than not; where it does not, the maximum
spanning tree is found (Chu & Liu 1965, Edmonds 1967), of those that have exactly one root. All sentences of a batch are
worked on together: every step contracts one cycle in each of them.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

Decode = Literal["tree", "greedy"]
"""The best tree with one root, or the likeliest head of each word."""

Root = Literal["learnt", "wu2019-masked"]
"""Whether attachment to the root is learnt: see `crosslens.tasks.parsing.Parsing`."""


def best_trees(scores: np.ndarray, lengths: Sequence[int]) -> list[np.ndarray]:
    """The tree with one root that has the highest sum of scores, for each sentence of a batch.

    Args:
        scores: ``(sentences, words, words + 1)`` float64: of head h (0 is the root, 1 the first word) for each word;
            -inf forbids an arc. A word's score of itself, and what lies behind a sentence's length, is not looked at.
        lengths: words of each sentence.

    Returns:
        For each sentence ``(length,)`` heads, 0 for the root word.
    """
    heads, are_trees = greedy_heads(scores, lengths)
    others = np.flatnonzero(~are_trees)
    if len(others):
        sizes = np.asarray(lengths)[others]
        trees = _spanning_trees(scores[others, : sizes.max(), : sizes.max() + 1], sizes)
        for row, size, tree in zip(others, sizes, trees, strict=True):
            heads[row] = tree[1 : size + 1]
    return heads


def greedy_heads(scores: np.ndarray, lengths: Sequence[int]) -> tuple[list[np.ndarray], np.ndarray]:
    """The likeliest head of each word, and for each sentence whether these are a tree with one root.

    Args:
        scores: as `best_trees` takes them.
        lengths: words of each sentence.

    Returns:
        For each sentence ``(length,)`` heads, and ``(sentences,)`` bool.
    """
    best = _weights(scores, np.asarray(lengths)).argmax(2)
    words = np.arange(best.shape[1]) <= np.asarray(lengths)[:, None]
    one_root = (words & (best == 0)).sum(1) == 2  # the root itself, and one word
    are_trees = one_root & (_above(best) == 0).all(1)
    return [row[1 : size + 1] for row, size in zip(best, lengths, strict=True)], are_trees


def _weights(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """``(sentences, nodes, nodes)``: of each head for each node; node 0 is the root, impossible arcs have -inf.

    The root, and what lies behind a sentence's end, hang from the root.
    """
    sentences, _, nodes = scores.shape
    weight = np.full((sentences, nodes, nodes), -np.inf)
    weight[:, 1:] = scores
    outside = np.arange(nodes) > lengths[:, None]
    weight[outside] = -np.inf
    weight.transpose(0, 2, 1)[outside] = -np.inf
    itself = np.arange(1, nodes)
    weight[:, itself, itself] = -np.inf
    weight[:, 0, 0] = 0.0
    weight[:, :, 0][outside] = 0.0
    return weight


def _above(best: np.ndarray) -> np.ndarray:
    """``(sentences, nodes)``: where every node arrives that goes up and up: the root, or somewhere on a cycle."""
    sentences, nodes = best.shape
    first = nodes * np.arange(sentences)[:, None]  # all sentences' nodes in one row
    up = (best + first).ravel()
    for _ in range(nodes.bit_length()):  # 1, 2, 4, … steps
        up = up[up]
    return up.reshape(best.shape) - first


def _spanning_trees(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """``(sentences, nodes)`` heads of the best trees with one root.

    Every arc from the root has a price. Whatever it is, a best tree that pays it once is the best of all that pay it
    once. The first price is one that a single word would pay for itself, which nearly always settles it, with few
    cycles to contract. Where it does not it is raised, at most until a root more costs more than all other arcs bring.
    """
    weight = _weights(scores, lengths)
    words = np.arange(1, weight.shape[1]) <= lengths[:, None]
    gains = np.where(words, weight[:, 1:, 0] - weight[:, 1:, 1:].max(2), -np.inf)
    two = np.sort(gains, axis=1)[:, -2:]
    price = np.where(np.isfinite(two).all(1), two.mean(1), 0.0)
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
    """``(sentences, nodes)`` heads of the trees of highest weight, with as many roots as it takes.

    A cycle is contracted into its first node, in place: that node's row and column of the matrix then hold the best
    arcs into and out of the cycle, and ``origin`` says between which two they really run: node x nodes + its head.

    Args:
        weight: from `_weights`.
        price: ``(sentences,)``: taken off every arc from the root.
    """
    weight = weight.copy()
    weight[:, 1:, 0] -= price[:, None]
    sentences, nodes, _ = weight.shape
    origin = np.tile(np.arange(nodes * nodes, dtype=np.int32).reshape(nodes, nodes), (sentences, 1, 1))
    owner = np.tile(np.arange(nodes), (sentences, 1))  # the node that each has been contracted into
    best = weight.argmax(2)
    best[:, 0] = 0
    node = np.arange(nodes)
    contracted = []
    live = np.arange(sentences)  # those that had a cycle the last time: a tree stays one
    while len((cycles := _cycles(best[live]))[0]):
        live, cycle = live[cycles[0]], cycles[1]
        at, row, first = live[:, None], np.arange(len(live))[:, None], cycle[:, :1]
        heads = best[at, cycle]
        contracted.append((live, cycle, origin[at, cycle, heads], owner[live]))
        # What entering the cycle at one of its nodes costs is the arc within the cycle that it replaces.
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
    """The sentences whose heads have a cycle, and the nodes of one cycle of each, ``(found, longest cycle)``.

    A shorter cycle goes round again to fill its row.
    """
    above = _above(best)
    start = above[np.arange(len(best)), (above > 0).argmax(1)]
    roots = np.flatnonzero(start)
    start = start[roots]
    around = [start]
    returned = np.zeros(len(roots), bool)
    while not (returned := returned | (best[roots, around[-1]] == start)).all():
        around.append(best[roots, around[-1]])
    return roots, np.stack(around, axis=1) if len(roots) else np.empty((0, 0), np.int64)
