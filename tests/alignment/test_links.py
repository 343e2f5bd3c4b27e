import itertools

import pytest

from crosslens.alignment.links import align_words, one_to_one, read_links, symmetrised
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError, RequestError


def corpus(*lines, language="en"):
    return Corpus(tuple(Sentence(tuple(line.split())) for line in lines), language, language)


EN, FR = corpus("the cat", "a b c"), corpus("le chat", "d e", language="fr")


def write(tmp_path, text):
    (tmp_path / "links").write_text(text, "utf-8")
    return tmp_path / "links"


def test_pharaohs_format(tmp_path):
    found = read_links(write(tmp_path, "0-0 1-1\n\n"), EN, FR)
    assert found == (frozenset({(0, 0), (1, 1)}), frozenset())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0-0\n0-2\n", r":2: the link 0-2 is out of range: the sentences have 3 and 2 words"),
        ("0-0\n3-0\n", r":2: the link 3-0 is out of range"),
        ("0-0 x\n\n", r":1: 'x' is not a link"),
        ("0--1\n\n", "is not a link"),
        ("0-0\n", "has 1 lines, but the corpora have 2 and 2 sentences"),
    ],
)
def test_links_that_cannot_be(tmp_path, text, reason):
    with pytest.raises(DataError, match=reason):
        read_links(write(tmp_path, text), EN, FR)


def test_texts_of_different_length_are_refused():
    pytest.importorskip("eflomal")
    with pytest.raises(RequestError, match="not parallel: en has 2 sentences, fr 1"):
        align_words(EN, FR[:1])


def test_symmetry_lies_between_intersection_and_union():
    pairs = list(itertools.product(range(3), range(2)))
    for size in range(4):
        for chosen in itertools.combinations(pairs, size):
            forward, backward = frozenset(chosen), frozenset(pairs[:4])
            both = symmetrised(forward, backward, "intersection")
            grown = symmetrised(forward, backward, "grow-diag-final-and")
            assert both == forward & backward
            assert both <= grown <= forward | backward


def test_grow_diag_final_and_by_hand():
    forward, backward = frozenset({(0, 0), (1, 1), (3, 3)}), frozenset({(0, 0), (2, 1), (1, 0)})
    # Next to (0, 0) come (1, 0), whose first word is free, and (1, 1), whose second is; next to (1, 1) comes (2, 1),
    # whose first word is free; (3, 3) is next to none, and both of its words are free at the end.
    expected = {(0, 0), (1, 0), (1, 1), (2, 1), (3, 3)}
    assert symmetrised(forward, backward, "grow-diag-final-and") == expected
    taken = frozenset({(0, 0), (1, 1)})  # (0, 1) is next to both, and has no free word
    assert symmetrised(taken, taken | {(0, 1)}, "grow-diag-final-and") == taken


def test_one_to_one_leaves_out_words_with_two_links():
    assert one_to_one([frozenset({(0, 0), (1, 1), (1, 2)}), frozenset({(2, 0)})]) == [(0, 0, 0), (1, 2, 0)]
    assert one_to_one([frozenset({(0, 0), (1, 0)})]) == []  # a target word with two links
    assert one_to_one([frozenset({(0, 1), (0, 2), (3, 2), (4, 5), (2, 0)})]) == [(0, 2, 0), (0, 4, 5)]


def test_eflomal_links_words_that_always_come_together():
    pytest.importorskip("eflomal")
    words = {"cat": "chat", "dog": "chien", "house": "maison", "tree": "arbre", "sea": "mer"}
    pairs = list(itertools.permutations(words, 3)) * 4
    links = align_words(
        corpus(*(" ".join(its) for its in pairs)),
        corpus(*(" ".join(words[w] for w in reversed(its)) for its in pairs), language="fr"),
    )
    right = sum(its == {(0, 2), (1, 1), (2, 0)} for its in links)
    assert right > 0.9 * len(pairs)
