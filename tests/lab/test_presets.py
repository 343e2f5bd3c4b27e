"""The artificial languages of the presets differ in what their names say."""

from collections import defaultdict

import pytest

from crosslens.corpora.catalogue import load_corpus

SOURCE = {
    "nsubj": "before",
    "obj": "after",
    "amod": "before",
    "nmod": "after",
    "case": "before",
    "advmod": "after",
    "aux": "before",
}
"""Relation -> side of its head, in English and in ``src``."""


@pytest.mark.parametrize(
    ("language", "differences"),
    [
        ("src", {}),
        ("adj", {"amod": "after"}),
        ("gen", {"nmod": "before", "aux": None}),
        ("sov", {"obj": "before", "nmod": "before", "case": "after", "advmod": "before", "aux": "after"}),
    ],
)
def test_every_language_has_its_own_word_order(language, differences):
    sides = defaultdict(set)
    for sentence in load_corpus(f"lab/{language}:test[:100]").sentences:
        for word, (head, relation) in enumerate(zip(sentence.heads, sentence.relations, strict=True), start=1):
            sides[relation].add("before" if word < head else "after")
    expected = {relation: {side} for relation, side in {**SOURCE, **differences}.items() if side is not None}
    assert {relation: sides[relation] for relation in SOURCE if relation in sides} == expected
