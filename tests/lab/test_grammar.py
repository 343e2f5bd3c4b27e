import numpy as np
import pytest

from crosslens.errors import RequestError
from crosslens.lab.grammar import DEPTH, KINDS, draw_trees

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


def test_rejected_trees_count_from_the_last_accepted_one(monkeypatch):
    """However many are rejected in all."""
    monkeypatch.setattr("crosslens.lab.grammar.ATTEMPTS", 100)
    rejected = []

    def accept(tree):
        return tree[0].kind == "clausal" or rejected.append(tree)

    assert len(draw_trees(100, shortest=4, longest=16, generator=np.random.default_rng(0), accept=accept)) == 100
    assert len(rejected) > 300


def test_clauses_and_noun_phrases_are_nested_so_deep_and_no_deeper():
    trees = draw_trees(1000, shortest=4, longest=60, generator=np.random.default_rng(0))
    deepest = 0
    for tree in trees:
        depth: list[int] = []
        for node in tree:  # heads come first
            inner = node.relation in ("ccomp", "acl:relcl", "nmod")
            depth.append((depth[node.head] if node.head >= 0 else 0) + inner)
        deepest = max(deepest, *depth)
    assert deepest == DEPTH


def test_obliques_are_places_more_often_than_subjects_and_objects_are():
    trees = draw_trees(2000, shortest=4, longest=60, generator=np.random.default_rng(0))
    kinds = {relation: [] for relation in ("nsubj", "obj", "obl")}
    for node in (node for tree in trees for node in tree if node.relation in kinds):
        if node.kind in ("first_name", "place", "organisation"):
            kinds[node.relation].append(node.kind)
    shares = {relation: names.count("place") / len(names) for relation, names in kinds.items()}
    assert min(map(len, kinds.values())) > 100
    assert shares["obl"] == pytest.approx(3 / 6, abs=0.1)
    assert shares["nsubj"] == pytest.approx(1 / 4, abs=0.1)
    assert shares["obj"] == pytest.approx(1 / 4, abs=0.1)
