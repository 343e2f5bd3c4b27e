import numpy as np
import pytest
from pydantic import ValidationError

from crosslens.errors import RequestError
from crosslens.lab.grammar import KINDS, draw_trees
from crosslens.lab.language import Language, heads_of
from crosslens.lab.world import World, WorldSettings

TREES = draw_trees(200, shortest=4, longest=16, generator=np.random.default_rng(0))
GRAMMARS = [
    Language(),
    Language(order="SOV", adposition="after", accusative=True, genitive="before", adverb="before"),
    Language(order="VSO", adjective="after", relative="before"),
    Language(order="OVS", determiners=False),
    Language(order="VOS", auxiliaries=False),
    Language(order="OSV"),
]


def test_heads_come_first_and_sizes_are_kept():
    for tree in TREES:
        assert tree[0].head == -1
        assert all(node.head < place for place, node in enumerate(tree))
        assert 4 <= len(tree) <= 16
    assert {node.kind for tree in TREES for node in tree} == set(KINDS)


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


def test_trees_are_drawn_until_enough_are_accepted():
    generator = np.random.default_rng(0)
    short = draw_trees(20, shortest=4, longest=16, generator=generator, accept=lambda tree: tree[0].kind == "clausal")
    assert {tree[0].kind for tree in short} == {"clausal"}
    with pytest.raises(RequestError, match="too few sentence structures of 4 to 6 words"):
        draw_trees(1, shortest=4, longest=6, generator=generator, accept=lambda tree: len(tree) > 6)


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


def test_words_go_with_words_of_some_classes():
    """What a head prefers is the same in every draw, and differs from head to head."""
    world = World(WorldSettings(), 0)
    tree = next(tree for tree in world.trees if [n.kind for n in tree[:1]] == ["transitive"])
    place = next(i for i, node in enumerate(tree) if node.relation in ("nsubj", "obj") and node.kind == "noun")
    drawn = world.fill(tree, 20_000, np.random.default_rng(1))
    verbs, nouns = drawn[:, 0] - world.first["transitive"], drawn[:, place] - world.first["noun"]
    assert set(nouns) <= set(range(36))
    counts = np.stack([np.bincount(nouns[verbs == verb], minlength=36) / (verbs == verb).sum() for verb in range(3)])
    again = world.fill(tree, 20_000, np.random.default_rng(2))
    share = np.bincount((again[:, place] - world.first["noun"])[again[:, 0] == world.first["transitive"]], minlength=36)
    assert np.abs(counts[0] - share / share.sum()).max() < 0.05
    assert np.abs(counts[0] - counts[1]).max() > 0.05


def test_frequent_words_are_frequent():
    world = World(WorldSettings(spread=0.0, strictness=1.0), 3)
    tree = world.trees[0]
    drawn = world.fill(tree, 50_000, np.random.default_rng(0))
    size = world.settings.sizes[tree[0].kind]
    counts = np.bincount(drawn[:, 0] - world.first[tree[0].kind], minlength=size) / 50_000
    zipf = (np.arange(size) + 1.0) ** -0.8
    np.testing.assert_allclose(counts, zipf / zipf.sum(), atol=0.01)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nouns": 3, "classes": 6}, "6 classes for 3 words of the smallest kind"),
        ({"shortest": 12, "longest": 8}, "the shortest structures .12. are longer than the longest .8."),
        ({"longest": 3}, "greater than or equal to 4"),
        ({"nouns": 0}, "greater than or equal to 1"),
        ({"namesakes": 1.5}, "less than or equal to 1"),
        ({"verbs": 3}, "Extra inputs are not permitted"),
    ],
)
def test_worlds_that_cannot_be(settings, message):
    with pytest.raises(ValidationError, match=message):
        WorldSettings(**settings)
