from collections import Counter

import numpy as np
import pytest

from crosslens.errors import RequestError
from crosslens.lab.laboratory import Laboratory, LaboratorySettings
from crosslens.lab.language import Language
from crosslens.lab.presets import find_laboratory
from crosslens.lab.texts import DOCUMENT, LABELS, draw_documents, draw_pair, fits_pair, is_premise, sentence_topic
from crosslens.lab.world import WorldSettings


@pytest.fixture(scope="module")
def laboratory():
    return find_laboratory()


def test_documents_are_about_what_their_label_says(laboratory):
    """By hand from the words: most nouns of the sentences are of the labelled class."""
    world = laboratory.world
    corpus = laboratory.documents("src", documents=60)
    nouns = {
        laboratory.lexicons["src"][world.first["noun"] + rank]: int(world.topic("noun", np.asarray(rank)))
        for rank in range(world.settings.nouns)
    }
    right = 0
    for text in corpus:
        (document,) = text.segments
        assert document.count(" .") == DOCUMENT
        classes = Counter(nouns[word] for word in document.split() if word in nouns)
        right += f"topic-{classes.most_common(1)[0][0]}" == text.label
    assert right > 50  # a homonym or a tie may count otherwise
    assert 4 <= len({text.label for text in corpus}) <= world.settings.classes


def test_the_topic_is_the_class_of_most_nouns(laboratory):
    world = laboratory.world
    tree = next(tree for tree in world.trees if sum(node.kind == "noun" for node in tree) == 1)
    concepts = np.zeros(len(tree), int)
    (place,) = (i for i, node in enumerate(tree) if node.kind == "noun")
    concepts[place] = world.first["noun"] + 8
    assert sentence_topic(world, (tree, concepts, concepts)) == world.topic("noun", np.asarray(8))
    tree = next(tree for tree in world.trees if sum(node.kind == "noun" for node in tree) == 3)
    first, *others = (place for place, node in enumerate(tree) if node.kind == "noun")
    concepts = np.zeros(len(tree), int)
    concepts[first], concepts[others] = world.first["noun"], world.first["noun"] + 1  # neighbouring ranks differ
    assert sentence_topic(world, (tree, concepts, concepts)) == world.topic("noun", np.asarray(1))
    bare = next(tree for tree in world.trees if all(node.kind != "noun" for node in tree))
    assert sentence_topic(world, (bare, np.zeros(len(bare), int), np.zeros(len(bare), int))) is None


def test_a_document_has_no_sentence_twice(laboratory):
    """Of a topic with three sentences, each document has all of them."""
    world, generator = laboratory.world, np.random.default_rng(0)
    tree = next(tree for tree in world.trees if any(node.kind == "noun" for node in tree))
    drawn = [
        (tree, concepts, np.zeros(len(tree), int)) for concepts in world.fill(tree, generator.random((200, len(tree))))
    ]
    topic = sentence_topic(world, drawn[0])
    pool = [meaning for meaning in drawn if sentence_topic(world, meaning) == topic][:DOCUMENT]
    assert len(pool) == DOCUMENT
    for label, meanings in draw_documents(world, pool, 20, generator):
        assert label == f"topic-{topic}"
        assert {id(meaning) for meaning in meanings} == {id(meaning) for meaning in pool}


def test_hypotheses_are_shorter_and_their_labels_cannot_be_told_from_length(laboratory):
    corpus = laboratory.pairs("src", pairs=600)
    assert Counter(text.label for text in corpus).keys() == set(LABELS)
    lost = {label: [] for label in LABELS}
    for text in corpus:
        premise, hypothesis = (segment.split() for segment in text.segments)
        assert len(hypothesis) < len(premise)
        lost[text.label].append(len(premise) - len(hypothesis))
    means = [np.mean(lost[label]) for label in LABELS]
    assert max(means) - min(means) < 0.6


def test_what_each_label_does(laboratory):
    world, generator = laboratory.world, np.random.default_rng(0)
    trees = list(filter(fits_pair, world.trees[:100]))
    assert len(trees) > 5
    for tree in trees:
        concepts = world.fill(tree, generator.random((1, len(tree))))[0]
        premise = (tree, concepts, np.zeros(len(tree), int))

        def roles(meaning):
            tree, concepts, _ = meaning
            found = {n.relation: int(c) for n, c in zip(tree, concepts, strict=True) if n.head == 0}
            return found["nsubj"], found["obj"]

        for label in LABELS:
            hypothesis = draw_pair(world, premise, label, generator)
            assert all(node.head < place for place, node in enumerate(hypothesis[0]))
            assert sum(node.head == -1 for node in hypothesis[0]) == 1
            subject, thing = roles(premise)
            if label == "entailment":
                assert roles(hypothesis) == (subject, thing)
                assert not Counter(hypothesis[1].tolist()) - Counter(concepts.tolist())
            if label == "contradiction":
                assert roles(hypothesis) == (thing, subject)
            if label == "neutral":
                assert roles(hypothesis)[0] == subject
                assert roles(hypothesis)[1] not in (subject, thing)


@pytest.mark.parametrize("make", ["documents", "pairs", "labelled"])
def test_no_sentence_of_evaluation_sets_is_in_raw_text(laboratory, make):
    raw = {line for language in laboratory.languages for line in laboratory.text(language)}

    def sentences(split):
        """Each sentence of the texts ends with a full stop."""
        texts = [text for language in ("src", "sov") for text in getattr(laboratory, make)(language, split=split)]
        found = {part + " ." for text in texts for segment in text.segments for part in segment[:-2].split(" . ")}
        assert len(found) > 100
        return found

    assert sentences("train") & raw
    assert not sentences("dev") & raw
    assert not sentences("test") & raw


@pytest.mark.parametrize("make", ["documents", "pairs"])
def test_test_sets_are_translations_and_training_sets_are_not(laboratory, make):
    def labels(language, split):
        return [text.label for text in getattr(laboratory, make)(language, split=split)[:60]]

    assert labels("src", "test") == labels("sov", "test")
    assert labels("src", "train") != labels("sov", "train")
    assert getattr(laboratory, make)("src")[0].segments != getattr(laboratory, make)("sov")[0].segments
    again = getattr(find_laboratory(), make)("sov")
    assert again.digest == getattr(laboratory, make)("sov").digest


def test_fewer_are_the_first_of_more(laboratory):
    assert laboratory.documents("gen", documents=20).items == laboratory.documents("gen", documents=40).items[:20]
    assert laboratory.pairs("gen", pairs=20).items == laboratory.pairs("gen", pairs=40).items[:20]


def test_what_there_is_not(laboratory):
    with pytest.raises(RequestError, match="no language 'svo'"):
        laboratory.documents("svo")
    with pytest.raises(RequestError, match="unknown split 'tset'"):
        laboratory.pairs("sov", split="tset")
    poor = Laboratory(LaboratorySettings(languages={"a": Language()}, world=WorldSettings(trees=1, longest=4)))
    with pytest.raises(RequestError, match="no sentence of this world has a subject"):
        poor.pairs("a")
    short = Laboratory(LaboratorySettings(languages={"a": Language()}, world=WorldSettings(trees=20, longest=7)))
    assert len(short.pairs("a", split="train", pairs=20)) == 20
    with pytest.raises(RequestError, match="no shortened sentence has a structure that no other"):
        short.pairs("a")


@pytest.mark.parametrize("count", [0, DOCUMENT - 1])
def test_documents_need_sentences_with_nouns(laboratory, count):
    world = laboratory.world
    bare, named = (
        next(tree for tree in world.trees if any(node.kind == "noun" for node in tree) == noun)
        for noun in (False, True)
    )
    pool = [(bare, world.fill(bare, np.zeros((1, len(bare))))[0], np.zeros(len(bare), int))] * 9
    pool += [(named, world.fill(named, np.zeros((1, len(named))))[0], np.zeros(len(named), int))] * count
    with pytest.raises(RequestError, match="no topic has 3 sentences with a noun") as refused:
        draw_documents(world, pool, 1, np.random.default_rng(0))
    assert "world.trees" in refused.value.hint


def test_sentences_with_their_languages_come_once_and_in_one_split():
    laboratory = find_laboratory()
    splits = {split: laboratory.labelled("all", split=split) for split in ("train", "dev", "test")}
    for corpus in splits.values():
        assert {text.label for text in corpus.texts} == set(laboratory.languages)
    said = [(text.label, text.text) for corpus in splits.values() for text in corpus.texts]
    assert len(set(said)) == len(said)
    assert {corpus.language for corpus in splits.values()} == {None}  # there are several
    alone = laboratory.labelled("sov", split="test")
    assert alone.language == "sov"
    assert alone.items == tuple(text for text in splits["test"].texts if text.label == "sov")
    with pytest.raises(RequestError, match="no language 'x'"):
        laboratory.labelled("x")


def test_another_object_is_another_word_than_subject_and_object_also_among_three_nouns():
    world = Laboratory(
        LaboratorySettings(
            languages={"a": Language()}, world=WorldSettings(nouns=3, classes=2, transitive=3, adjectives=3)
        )
    ).world
    tree, generator = next(filter(fits_pair, world.trees)), np.random.default_rng(0)
    place = {node.relation: place for place, node in enumerate(tree) if node.head == 0}
    for concepts in world.fill(tree, generator.random((50, len(tree)))):
        (shorter, others, _) = draw_pair(world, (tree, concepts, np.zeros(len(tree), int)), "neutral", generator)
        thing = next(number for number, node in enumerate(shorter) if (node.head, node.relation) == (0, "obj"))
        assert others[thing] not in (concepts[place["nsubj"]], concepts[place["obj"]])


def test_a_world_whose_verbs_have_but_two_objects_is_refused():
    world = WorldSettings(exponent=10, strictness=1e6, spread=10)
    with pytest.raises(RequestError, match="all are of the same two nouns"):
        Laboratory(LaboratorySettings(languages={"a": Language()}, world=world)).pairs("a")


@pytest.mark.parametrize("count", [5, 150, 400])
def test_a_labelled_split_of_any_size_shares_no_sentence_with_the_others(count):
    """Few structures and words, so that many sentences are drawn several times."""
    small = {"trees": 20, "longest": 6, "nouns": 6, "classes": 2}
    laboratory = Laboratory(LaboratorySettings(languages={"a": Language()}, world=WorldSettings(**small)))

    def sentences(split, **size):
        return {text.text for text in laboratory.labelled("a", split=split, **size)}

    for split in ("dev", "test"):
        drawn = sentences(split, sentences=count)
        assert drawn
        assert not any(drawn & sentences(other) for other in {"train", "dev", "test"} - {split})


def test_a_contradiction_swaps_number_together_with_the_noun(laboratory):
    """Many dogs see a cat; a cat sees many dogs."""
    world, generator = laboratory.world, np.random.default_rng(0)
    tree = next(filter(fits_pair, world.trees))
    concepts = world.fill(tree, generator.random((1, len(tree))))[0]
    arguments = {node.relation: place for place, node in enumerate(tree) if node.head == 0}
    marks = np.zeros(len(tree), int)
    marks[arguments["nsubj"]] = 1
    expected = {"entailment": (1, 0), "neutral": (1, 0), "contradiction": (0, 1)}
    for label, numbers in expected.items():
        shorter, _, others = draw_pair(world, (tree, concepts, marks), label, generator)
        found = {node.relation: int(mark) for node, mark in zip(shorter, others, strict=True) if node.head == 0}
        assert (found["nsubj"], found["obj"]) == numbers, label


@pytest.mark.parametrize("nouns", [1, 2, 3])
def test_sentence_pairs_need_another_object_than_subject_and_object(nouns):
    world = WorldSettings(nouns=nouns, classes=1)
    made = Laboratory(LaboratorySettings(languages={"a": Language()}, world=world))
    if nouns == 3:
        assert {text.label for text in made.pairs("a", pairs=20).texts} == set(LABELS)
        return
    with pytest.raises(RequestError, match="sentence pairs need three nouns"):
        made.pairs("a", pairs=20)


def test_a_contradiction_is_never_what_is_entailed(laboratory):
    """With the same modifiers left out, it has the same nouns in other places."""
    world = laboratory.world
    premises = [meaning for meaning in laboratory._sample("test", "pairs", count=400) if fits_pair(meaning[0])]
    same = [meaning for meaning in premises if not is_premise(meaning)]
    assert 0 < len(same) < len(premises) / 5
    for tree, concepts, _ in same:
        nouns = {node.relation: concepts[place] for place, node in enumerate(tree) if node.head == 0}
        assert nouns["nsubj"] == nouns["obj"]
    for meaning in filter(is_premise, premises):
        entailed, contradicted = (
            draw_pair(world, meaning, label, np.random.default_rng(1))[1].tolist()
            for label in ("entailment", "contradiction")
        )
        assert sorted(entailed) == sorted(contradicted)
        assert entailed != contradicted
