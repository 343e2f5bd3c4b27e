import dataclasses

import pytest

from crosslens.data.sentence import Sentence
from crosslens.errors import RequestError
from crosslens.scores import attachment_scores
from crosslens.scores.attachment import universal

GOLD = Sentence(
    ("Cats", "are", "fed", "."),
    upos=("NOUN", "AUX", "VERB", "PUNCT"),
    heads=(3, 3, 0, 3),
    relations=("nsubj:pass", "aux:pass", "root", "punct"),
)


def guess(heads=GOLD.heads, relations=GOLD.relations):
    return Sentence(GOLD.words, heads=tuple(heads), relations=tuple(relations))


def values(predicted, **more):
    return {score.metric: score.value for score in attachment_scores([GOLD], [predicted], data="x", **more)}


def test_by_hand():
    assert values(guess()) == {"las": 100, "uas": 100, "las_nopunct": 100, "uas_nopunct": 100}
    # A wrong full stop is an error in las and none in las_nopunct.
    assert values(guess(heads=(3, 3, 0, 1))) == {"las": 75, "uas": 75, "las_nopunct": 100, "uas_nopunct": 100}
    # A right relation of a wrong head is no right arc.
    assert values(guess(heads=(2, 3, 0, 3)))["las"] == 75
    assert values(guess(relations=("obj", "aux:pass", "root", "punct"))) == {
        "las": 75,
        "uas": 100,
        "las_nopunct": pytest.approx(200 / 3),
        "uas_nopunct": 100,
    }


@pytest.mark.parametrize("tag", ["PUNCT", "SYM", "X"])
def test_punctuation_is_what_gold_tags_so_and_symbols_are(tag):
    """The predicted tags are not asked."""
    gold = dataclasses.replace(GOLD, upos=("NOUN", "AUX", "VERB", tag))
    wrong = dataclasses.replace(gold, heads=(3, 3, 0, 1), upos=("PUNCT",) * 4)
    scores = {score.metric: score for score in attachment_scores([gold], [wrong], data="x")}
    assert (scores["las"].value, scores["las"].n) == (75, 4)
    assert (scores["las_nopunct"].value, scores["las_nopunct"].n) == ((75, 4) if tag == "X" else (100, 3))
    assert "words:no_PUNCT_SYM" in scores["las_nopunct"].signature
    assert "words:all" in scores["las"].signature
    cut = {score.metric: score for score in attachment_scores([gold], [wrong], data="x", words="wu2019")}
    assert "words:wu2019|" in cut["uas"].signature
    assert "words:wu2019_no_PUNCT_SYM|" in cut["uas_nopunct"].signature


def test_subtypes_count_when_relations_are_full():
    """CoNLL-2018 leaves them out, the first paper's code compares whole relations."""
    plain = guess(relations=("nsubj", "aux", "root", "punct"))
    assert values(plain)["las"] == 100
    assert values(plain, relations="full")["las"] == 50
    with pytest.raises(RequestError, match="no rule 'some'"):
        values(plain, relations="some")


def test_relations_that_training_never_saw_are_counted_by_the_rule():
    known = frozenset({"nsubj", "aux", "root"})
    notes = [
        attachment_scores([GOLD], [guess()], data="x", known=known, relations=rule)[0].notes["unknown_gold"]
        for rule in ("universal", "full")
    ]
    assert notes == [1, 3]


def test_gold_without_tags_has_no_score_without_punctuation():
    bare = Sentence(GOLD.words, heads=GOLD.heads, relations=GOLD.relations)
    assert [score.metric for score in attachment_scores([bare], [guess()], data="x")] == ["las", "uas"]


def test_a_score_without_punctuation_needs_the_tags_of_every_sentence():
    """Otherwise it would be that of the tagged sentences, under the name of the corpus."""
    bare = dataclasses.replace(GOLD, upos=None)
    for gold in ([GOLD, bare], [bare, GOLD]):
        assert [score.metric for score in attachment_scores(gold, [guess()] * 2, data="x")] == ["las", "uas"]


def test_a_relation_that_training_saw_with_a_subtype_is_known():
    known = frozenset({"nsubj:pass", "aux:pass", "aux", "root", "punct:end"})
    notes = [
        attachment_scores([GOLD], [guess()], data="x", known=known, relations=rule)[0].notes["unknown_gold"]
        for rule in ("universal", "full")
    ]
    assert notes == [0, 1]


@pytest.mark.parametrize("rule", ["universal", "full"])
def test_every_signature_says_how_relations_are_compared(rule):
    scores = attachment_scores([GOLD], [guess()], data="x", relations=rule)
    assert [f"relations:{rule}|" in score.signature for score in scores] == [True] * 4


def test_a_relation_is_universal_up_to_its_first_colon():
    assert [universal(relation) for relation in ("obl", "obl:arg", "obl:arg:x")] == ["obl"] * 3
