"""The artificial languages of the presets differ in what their names say."""

from collections import defaultdict

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.errors import RequestError
from crosslens.lab.presets import GOOD, find_laboratory, given_name
from crosslens.settings import replace_settings

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


def test_only_a_cached_encoder_is_called_as_its_laboratory(tmp_path):
    """A folder of the user's own may begin with the same letters."""
    encoder = tmp_path / "lab-good"
    assert given_name(str(encoder)) == str(encoder)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "pretrain.yaml").touch()
    assert given_name(str(encoder)) == "lab:good"


@pytest.mark.parametrize("preset", ["good-w", "good-w-1", "good-w\N{ARABIC-INDIC DIGIT THREE}", f"good-w{2**63}"])
def test_the_number_of_a_world_is_a_seed_that_pretraining_can_have(preset):
    with pytest.raises(RequestError, match=r"unknown preset|seed="):
        find_laboratory(preset)
    with pytest.raises(RequestError, match="seed=-1: input should be greater than or equal to 0"):
        replace_settings(GOOD, {"seed": "-1"}, what="a laboratory")
