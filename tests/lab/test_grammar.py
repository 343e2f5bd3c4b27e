import numpy as np
import pytest

from crosslens.errors import RequestError
from crosslens.lab.grammar import KINDS, draw_trees

TREES = draw_trees(200, shortest=4, longest=16, generator=np.random.default_rng(0))


def test_heads_come_first_and_sizes_are_kept():
    for tree in TREES:
        assert tree[0].head == -1
        assert all(node.head < place for place, node in enumerate(tree))
        assert 4 <= len(tree) <= 16
    assert {node.kind for tree in TREES for node in tree} == set(KINDS)


def test_trees_are_drawn_until_enough_are_accepted():
    generator = np.random.default_rng(0)
    short = draw_trees(20, shortest=4, longest=16, generator=generator, accept=lambda tree: tree[0].kind == "clausal")
    assert {tree[0].kind for tree in short} == {"clausal"}
    with pytest.raises(RequestError, match="too few sentence structures of 4 to 6 words"):
        draw_trees(1, shortest=4, longest=6, generator=generator, accept=lambda tree: len(tree) > 6)
