"""The order and the words that a language gives a tree."""

import numpy as np
import pytest

from crosslens.lab.grammar import draw_trees
from crosslens.lab.language import Language, heads_of

TREES = draw_trees(200, shortest=4, longest=16, generator=np.random.default_rng(0))
GRAMMARS = [
    Language(),
    Language(order="SOV", adposition="after", accusative=True, genitive="before", adverb="before"),
    Language(order="VSO", adjective="after", relative="before"),
    Language(order="OVS", determiners=False),
    Language(order="VOS", auxiliaries=False),
    Language(order="OSV"),
]


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.order)
def test_every_order_is_a_projective_tree_of_the_nodes_that_are_said(grammar):
    for tree in TREES:
        order = grammar.linear(tree)
        assert sorted(order) == [place for place, node in enumerate(tree) if grammar.says(node.kind)]
        heads = heads_of(tree, order)
        assert heads.count(0) == 1
        for word, head in enumerate(heads, start=1):  # no arc crosses another
            low, high = sorted((word, head))
            assert all(low <= heads[between - 1] <= high for between in range(low + 1, high))
        assert tree[order[-1]].kind == "full_stop"


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.order)
def test_subject_verb_and_object_stand_in_the_languages_order(grammar):
    seen = 0
    for tree in TREES:
        place = {}
        for node, its in enumerate(tree):
            if its.head == 0 and its.relation in ("nsubj", "obj"):
                place["S" if its.relation == "nsubj" else "O"] = grammar.linear(tree).index(node)
        if len(place) == 2:
            place["V"] = grammar.linear(tree).index(0)
            assert "".join(sorted(place, key=lambda part: place[part])) == grammar.order
            seen += 1
    assert seen > 20


def test_sentences_of_different_patterns_differ():
    tree = next(tree for tree in TREES if {"determiner", "transitive"} <= {node.kind for node in tree})
    with_articles, without = Language(), Language(determiners=False)
    assert "DET" in with_articles.pattern(tree)
    assert tuple(part for part in with_articles.pattern(tree) if part != "DET") == without.pattern(tree)
    assert not {"NOUN", "VERB", "ADJ", "ADV"} & {part for tree in TREES for part in with_articles.pattern(tree)}


def test_sides_are_the_languages():
    before = Language(adjective="before", adposition="before", genitive="before", relative="before", adverb="before")
    after = Language(adjective="after", adposition="after", genitive="after", relative="after", adverb="after")
    for relation in ("amod", "nmod", "acl:relcl", "advmod", "case"):
        for grammar, sign in ((before, -1), (after, 1)):
            for tree in TREES:
                order = grammar.linear(tree)
                for node, its in enumerate(tree):
                    if its.relation == relation and node in order:
                        assert np.sign(order.index(node) - order.index(its.head)) == sign


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.order)
def test_obliques_are_on_the_side_of_the_object_and_farther_from_the_verb(grammar):
    seen = 0
    for tree in TREES:
        order = grammar.linear(tree)
        places = {node.relation: place for place, node in enumerate(tree) if node.head == 0}
        if {"obj", "obl"} <= set(places):
            verb, obj, obl = (order.index(place) for place in (0, places["obj"], places["obl"]))
            assert verb < obj < obl or obl < obj < verb
            seen += 1
    assert seen > 10


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.order)
def test_auxiliaries_follow_the_verb_where_it_comes_last_and_precede_it_elsewhere(grammar):
    """As in most languages of the world (Greenberg 1963, universal 16)."""
    after = set()
    for tree in TREES:
        order = grammar.linear(tree)
        for place, node in enumerate(tree):
            if node.kind == "auxiliary" and grammar.says(node.kind):
                after.add(order.index(place) > order.index(node.head))
    assert after == ({grammar.order.endswith("V")} if grammar.auxiliaries else set())


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.order)
def test_a_surname_follows_its_first_name_at_once(grammar):
    names = 0
    for tree in TREES:
        order = grammar.linear(tree)
        for place, node in enumerate(tree):
            if node.relation == "flat":
                assert order.index(place) == order.index(node.head) + 1
                names += 1
    assert names > 10


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda grammar: grammar.order)
def test_obliques_stand_beyond_the_object_and_complement_clauses_last(grammar):
    seen = {"obj": 0, "ccomp": 0}
    for tree in TREES:
        order = grammar.linear(tree)
        place = {tree[number].relation: at for at, number in enumerate(order) if tree[number].head == 0}
        if {"obl", "obj"} <= place.keys():
            beyond = place["obl"] > place["obj"]
            assert beyond == (grammar.order.index("O") > grammar.order.index("V"))
            seen["obj"] += 1
        if "ccomp" in place:
            assert all(place["ccomp"] > place[other] for other in place.keys() & {"nsubj", "obl", "advmod", "aux"})
            seen["ccomp"] += "obl" in place
    assert min(seen.values()) > 0
