import itertools
import sys

import pytest

from crosslens.data.corpus import Corpus
from crosslens.data.links import align_words, as_text, one_to_one, read_links
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError, RequestError


def corpus(*lines, language="en"):
    return Corpus(tuple(Sentence(tuple(line.split())) for line in lines), language, language)


EN, FR = corpus("the cat", "a b c"), corpus("le chat", "d e", language="fr")


def write(tmp_path, text):
    (tmp_path / "links").write_text(text, "utf-8")
    return tmp_path / "links"


def test_pharaohs_format(tmp_path):
    for text in ("0-0 1-1\n\n", "0-0  1-1 0-0 \n\n", "\ufeff0-0 1-1\n\n"):
        assert read_links(write(tmp_path, text), EN, FR) == (frozenset({(0, 0), (1, 1)}), frozenset())
    assert read_links(write(tmp_path, "1-0\n2-1 2-0"), EN, FR) == (frozenset({(1, 0)}), frozenset({(2, 1), (2, 0)}))


def test_links_are_written_as_they_are_read(tmp_path):
    links = (frozenset({(2, 1), (0, 0)}), frozenset())
    assert as_text(links) == "0-0 2-1\n\n"
    assert read_links(write(tmp_path, as_text(links)), corpus("a b c", "d"), corpus("x y", "z")) == links


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0-0\n0-2\n", r":2: the link 0-2 is out of range: the sentences have 3 and 2 words"),
        ("0-0\n3-0\n", r":2: the link 3-0 is out of range"),
        ("0-0 x\n\n", r":1: 'x' is not a link"),
        ("0--1\n\n", "is not a link"),
        ("0-0\n", "has 1 lines, but the corpora have 2 and 2 sentences"),
        ("0-0\n\n\n", "has 3 lines, but the corpora have 2 and 2 sentences"),
        ("0-0\n0:1\n", r":2: '0:1' is not a link"),
        ("-0\n\n", r":1: '-0' is not a link"),
    ],
)
def test_links_that_cannot_be(tmp_path, text, reason):
    with pytest.raises(DataError, match=reason):
        read_links(write(tmp_path, text), EN, FR)


def test_texts_of_different_length_are_refused():
    pytest.importorskip("eflomal")
    with pytest.raises(RequestError, match="not parallel: en has 2 sentences, fr 1"):
        align_words(EN, FR[:1])


def test_texts_are_paired_before_links_are_read(tmp_path):
    with pytest.raises(DataError, match="has 2 lines, but the corpora have 2 and 1 sentences"):
        read_links(write(tmp_path, "0-0\n\n"), EN, FR[:1])


def test_both_directions_of_the_aligner_are_joined(eflomal):
    loud = corpus("The CAT", "a b c")
    assert align_words(loud, FR) == (frozenset({(0, 0)}), frozenset({(2, 0)}))
    assert eflomal.given == (["the cat\n", "a b c\n"], ["le chat\n", "d e\n"], True)
    with pytest.raises(RequestError, match="not parallel: en has 2 sentences, fr 1"):
        align_words(EN, FR[:1])


def test_a_word_with_spaces_is_one_word_for_the_aligner(eflomal):
    spaced = Corpus((Sentence(words=("Le", "4 000")), Sentence(words=("d", "e"))), "fr", "fr")
    align_words(corpus("the CAT", "a b c"), spaced)
    assert eflomal.given[1] == ["le 4_000\n", "d e\n"]


def test_without_the_aligner_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "eflomal", None)
    with pytest.raises(RequestError, match="aligning words needs eflomal") as refused:
        align_words(EN, FR)
    assert "pip install 'crosslens[align]'" in str(refused.value.hint)
    assert "`align transfer` (--links FILE) and patch (links=FILE)" in str(refused.value.hint)  # `align links` has none


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
