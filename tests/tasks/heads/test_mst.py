import itertools

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.tasks.heads.mst import best_trees, greedy_heads


def best_tree(scores):
    return best_trees(scores[None], [len(scores)])[0]


def is_tree(heads):
    """One root, and every word reaches it."""
    for word in range(1, len(heads) + 1):
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        if word:
            return False
    return list(heads).count(0) == 1


@pytest.mark.parametrize("words", range(1, 34))
def test_a_chain_is_a_tree_however_long_and_its_cycle_is_none(words):
    """The deepest tree of so many words; its last word is as far from the root as any can be."""
    scores = np.zeros((2, words, words + 1))
    scores[:, np.arange(words), np.arange(words)] = 1  # the head of each word is the one before it, or the root
    scores[1, 0, 0], scores[1, 0, words] = 0, 2  # but the last word heads the first one
    (chain, _), are_trees = greedy_heads(scores, [words, words])
    assert chain.tolist() == list(range(words))
    assert are_trees.tolist() == [True, words == 1]


def total(scores, heads):
    return sum(scores[word, head] for word, head in enumerate(heads))


def brute_force(scores):
    """The highest sum over all trees with one root."""
    words = len(scores)
    trees = filter(is_tree, itertools.product(range(words + 1), repeat=words))
    return max(total(scores, heads) for heads in trees)


@given(st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from([None, 0, 1]), st.sampled_from([0.1, 1, 100]))
def test_best_of_all_trees(words, seed, decimals, scale):
    """With ties too, which rounding makes."""
    scores = np.random.default_rng(seed).normal(size=(words, words + 1)) * scale
    scores = scores if decimals is None else scores.round(decimals)
    heads = best_tree(scores)
    assert is_tree(heads)
    assert total(scores, heads) == pytest.approx(brute_force(scores), abs=1e-6)


@pytest.mark.parametrize("words", [7, 12, 20])
def test_best_of_long_sentences(words):
    """Against networkx, with a penalty for more roots than one."""
    generator = np.random.default_rng(words)
    for _ in range(10):
        scores = generator.normal(size=(words, words + 1))
        graph = networkx.DiGraph()
        for dependent, head in itertools.product(range(words), range(words + 1)):
            if head != dependent + 1:
                weight = scores[dependent, head] - 1000 * (head == 0)
                graph.add_edge(head, dependent + 1, weight=weight)
        oracle = networkx.maximum_spanning_arborescence(graph)
        expected = sum(weight for *_, weight in oracle.edges(data="weight")) + 1000
        assert total(scores, best_tree(scores)) == pytest.approx(expected, abs=1e-6)


def test_products_of_probabilities_are_maximised_not_their_sum():
    """R10: a case where the tree with the highest sum of probabilities is another one."""
    words, cases = 3, 0
    generator = np.random.default_rng(0)
    trees = [heads for heads in itertools.product(range(words + 1), repeat=words) if is_tree(heads)]
    for _ in range(200):
        p = generator.dirichlet([0.3] * (words + 1), size=words)
        p = np.maximum(p, 1e-6)
        by_sum = max(trees, key=lambda heads: total(p, heads))
        by_product = max(trees, key=lambda heads: total(np.log(p), heads))
        cases += by_sum != by_product
        assert tuple(best_tree(np.log(p))) == by_product
    assert cases > 0


def test_a_batch_is_its_sentences_one_by_one():
    generator = np.random.default_rng(3)
    lengths = [1, 6, 3, 2]
    scores = generator.normal(size=(4, 6, 7))
    scores[1, np.arange(6), [0, 1, 2, 3, 4, 5]] += 20  # a chain: already a tree
    for row, length in enumerate(lengths):
        scores[row, np.arange(length), np.arange(1, length + 1)] = -np.inf  # no word is its own head
        scores[row, :, length + 1 :] = 1e9  # what lies behind the sentence is not looked at
    heads, are_trees = greedy_heads(scores, lengths)
    assert [is_tree(its) for its in heads] == are_trees.tolist()
    assert are_trees[1]
    for row, (length, its) in enumerate(zip(lengths, best_trees(scores, lengths), strict=True)):
        np.testing.assert_array_equal(its, best_tree(scores[row, :length, : length + 1]))


def test_many_sentences_together_are_each_their_own():
    """Sentences of all lengths, whose cycles are contracted in one go."""
    generator = np.random.default_rng(5)
    lengths = generator.integers(1, 30, size=60).tolist()
    scores = generator.normal(size=(60, 30, 31))
    for row, (length, its) in enumerate(zip(lengths, best_trees(scores, lengths), strict=True)):
        assert is_tree(its)
        np.testing.assert_array_equal(its, best_tree(scores[row, :length, : length + 1]))


def test_forbidden_arcs_are_not_taken():
    scores = np.array([[0.0, -np.inf, 5.0], [0.0, 5.0, -np.inf]])
    assert best_tree(scores).tolist() in ([0, 1], [2, 0])
    scores[0, 0] = -np.inf
    assert best_tree(scores).tolist() == [2, 0]


@pytest.mark.parametrize("words", range(3, 12))
def test_there_is_one_root_however_much_it_costs(words):
    """Two roots would cost nothing. With one, a chain of words must be turned round, and each of them costs 1."""
    scores = np.full((words, words + 1), -np.inf)
    scores[0, 0] = scores[1, 0] = scores[-1, 1] = 0
    for word in range(3, words + 1):
        scores[word - 1, word - 1], scores[word - 2, word] = 0, -1
    heads = best_tree(scores)
    assert heads.tolist() == [0, *range(3, words + 1), 1]
    assert is_tree(heads)
    assert total(scores, heads) == 2 - words
