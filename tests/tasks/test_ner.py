"""Named-entity recognition: the rule for invalid tags, and entity types that training lacks."""

import pytest

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.scores import span_scores
from crosslens.tasks.ner import NamedEntities

GOLD = [("B-PER", "I-LOC", "O", "I-LOC"), ("B-ORG", "I-ORG")]
PREDICTED = [("I-PER", "I-LOC", "O", "B-LOC"), ("B-ORG", "I-PER")]


def corpus(tags):
    sentences = [Sentence(tuple("abcd"[: len(row)]), entities=row) for row in tags]
    return Corpus(tuple(sentences), "tags", "en")


def test_invalid_tags_are_read_by_the_rule_of_the_task():
    values = {}
    for repair in ("conll", "conneau-last-type", "strict"):
        scores = NamedEntities(repair=repair).score(corpus(GOLD), corpus(PREDICTED))
        values[repair] = [(score.metric, score.value) for score in scores]
        expected = span_scores(GOLD, PREDICTED, data="", repair=repair)
        assert values[repair] == [(score.metric, score.value) for score in expected]
        assert f"repair:{repair}" in scores[0].signature
    assert len({str(value) for value in values.values()}) == 3


@pytest.mark.parametrize(("known", "unknown"), [({"B-PER", "I-PER", "O"}, 3), ({"O"}, 4), ((), 4), (None, None)])
def test_an_entity_is_unknown_where_no_tag_of_its_type_was_seen(known, unknown):
    """Also where training has seen no entity at all."""
    labels = None if known is None else frozenset(known)
    scores = NamedEntities().score(corpus(GOLD), corpus(PREDICTED), known=labels)
    assert scores[0].notes.get("unknown_gold") == unknown
