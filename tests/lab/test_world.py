"""A world: how often its words are used, and with which others."""

import numpy as np
import pytest

from crosslens.errors import RequestError
from crosslens.lab.world import World, WorldSettings


def test_words_go_with_words_of_some_classes():
    """What a head prefers is the same in every draw, and differs from head to head."""
    world = World(WorldSettings(), 0)
    tree = next(tree for tree in world.trees if [n.kind for n in tree[:1]] == ["transitive"])
    place = next(i for i, node in enumerate(tree) if node.relation in ("nsubj", "obj") and node.kind == "noun")
    drawn = world.fill(tree, np.random.default_rng(1).random((20_000, len(tree))))
    verbs, nouns = drawn[:, 0] - world.first["transitive"], drawn[:, place] - world.first["noun"]
    assert set(nouns) <= set(range(36))
    counts = np.stack([np.bincount(nouns[verbs == verb], minlength=36) / (verbs == verb).sum() for verb in range(3)])
    again = world.fill(tree, np.random.default_rng(2).random((20_000, len(tree))))
    share = np.bincount((again[:, place] - world.first["noun"])[again[:, 0] == world.first["transitive"]], minlength=36)
    assert np.abs(counts[0] - share / share.sum()).max() < 0.05
    assert np.abs(counts[0] - counts[1]).max() > 0.05


def test_frequent_words_are_frequent():
    world = World(WorldSettings(spread=0.0, strictness=1.0), 3)
    tree = world.trees[0]
    drawn = world.fill(tree, np.random.default_rng(0).random((50_000, len(tree))))
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
        ({"nouns": 1001}, "less than or equal to 1000"),
        ({"spread": 400.0}, "less than or equal to 10"),  # weights would be infinite
        ({"strictness": float("inf")}, "less than or equal to 1000000"),
        ({"namesakes": 1.5}, "less than or equal to 1"),
        ({"verbs": 3}, "unknown setting"),
    ],
)
def test_worlds_that_cannot_be(settings, message):
    with pytest.raises(RequestError, match=message):
        WorldSettings(**settings)


def test_all_structures_may_have_one_length():
    world = World(WorldSettings(shortest=5, longest=5, trees=20), 0)
    assert [len(tree) for tree in world.trees] == [5] * 20


def test_a_class_may_have_a_single_word_of_each_kind():
    settings = WorldSettings(nouns=6, transitive=6, adjectives=6, classes=6)
    world = World(settings, 0)
    for kind in ("noun", "transitive", "adjective"):
        assert sorted(world.topic(kind, np.arange(6)).tolist()) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", ["nouns", "transitive", "adjectives"])
def test_no_class_is_without_a_word_of_a_kind(kind):
    with pytest.raises(RequestError, match="7 classes for 6 words"):
        WorldSettings(**{"nouns": 8, "transitive": 8, "adjectives": 8, "classes": 7, kind: 6})


def test_the_frequency_of_words_of_two_kinds_does_not_join_their_classes():
    """The commonest noun and the commonest verb are of one class in some worlds only."""
    worlds = [World(WorldSettings(), seed) for seed in range(40)]
    kinds = ("noun", "transitive", "adjective")
    classes = [tuple(int(world.topic(kind, np.asarray(0))) for kind in kinds) for world in worlds]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        same = sum(each[one] == each[other] for each in classes)
        assert 0 < same < 20, (kinds[one], kinds[other])  # one in six by chance


def test_a_verb_has_objects_of_the_two_classes_that_it_prefers():
    world = World(WorldSettings(spread=0.0, exponent=0.0, strictness=1e6), 0)
    tree = next(tree for tree in world.trees if (tree[0].kind, tree[1].kind) == ("transitive", "noun"))
    drawn = world.fill(tree, np.random.default_rng(1).random((5000, len(tree))))
    verbs, nouns = drawn[:, 0] - world.first["transitive"], drawn[:, 1] - world.first["noun"]
    for verb in range(world.settings.transitive):
        assert len(set(world.topic("noun", nouns[verbs == verb]).tolist())) == 2


def test_objects_are_frequent_by_rank_and_as_much_more_so_in_preferred_classes_as_preferences_are_strict():
    world = World(WorldSettings(spread=0.0, strictness=5.0), 0)
    tree = next(tree for tree in world.trees if (tree[0].kind, tree[1].kind) == ("transitive", "noun"))
    drawn = world.fill(tree, np.random.default_rng(1).random((200_000, len(tree))))
    nouns = (drawn[:, 1] - world.first["noun"])[drawn[:, 0] == world.first["transitive"]]
    by_rank = np.bincount(nouns, minlength=36) * (np.arange(36) + 1.0) ** 0.8
    classes = world.topic("noun", np.arange(36))
    by_class = np.asarray([by_rank[classes == each].mean() for each in range(6)])
    preferred = by_class > by_class.mean()
    assert preferred.sum() == 2
    np.testing.assert_allclose(by_class[preferred], 5 * by_class[~preferred].mean(), rtol=0.1)
    np.testing.assert_allclose(by_class[~preferred], by_class[~preferred].mean(), rtol=0.1)


def test_a_verb_prefers_other_subjects_than_objects():
    world = World(WorldSettings(), 0)
    for tree in world.trees:
        places = {node.relation: i for i, node in enumerate(tree) if node.head == 0 and node.kind == "noun"}
        if tree[0].kind == "transitive" and {"nsubj", "obj"} <= set(places):
            break
    drawn = world.fill(tree, np.random.default_rng(1).random((20_000, len(tree))))
    drawn = drawn[drawn[:, 0] == world.first["transitive"]]
    subjects, objects = (
        np.bincount(drawn[:, places[relation]] - world.first["noun"], minlength=36) / len(drawn)
        for relation in ("nsubj", "obj")
    )
    assert np.abs(subjects - objects).sum() / 2 > 0.3  # total variation distance
