import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosslens.errors import RequestError
from crosslens.scores.spans import REPAIRS, conll_spans, last_type_spans, span_scores, strict_spans

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
tags = st.lists(st.sampled_from(TAGS), min_size=1, max_size=12)


def test_illegal_tags_by_each_rule():
    """R14: B-X I-Y I-Z is three spans, one of the last type, or one word."""
    illegal = ["B-X", "I-Y", "I-Z", "O", "I-X"]
    assert conll_spans(illegal) == [(0, 1, "X"), (1, 2, "Y"), (2, 3, "Z"), (4, 5, "X")]
    assert last_type_spans(illegal) == [(0, 3, "Z"), (4, 5, "X")]
    assert strict_spans(illegal) == [(0, 1, "X")]


def test_five_thousand_words_do_not_recurse():
    for rule in REPAIRS.values():
        assert len(rule(["I-X"] * 5000)) == (0 if rule is strict_spans else 1)


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from("XYO")), min_size=1, max_size=6))
def test_the_rules_agree_on_legal_tags(runs):
    legal = []
    expected = []
    for length, kind in runs:
        if kind == "O":
            legal += ["O"] * length
        else:
            expected.append((len(legal), len(legal) + length, kind))
            legal += [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
    for rule in REPAIRS.values():
        assert rule(legal) == expected


@settings(deadline=None)  # the first call imports seqeval
@given(st.lists(tags, min_size=1, max_size=4), st.randoms())
def test_f1_is_seqevals(gold, random):
    """The lenient rule is seqeval's default, the strict one its strict IOB2."""
    from seqeval.metrics import f1_score, precision_score, recall_score
    from seqeval.scheme import IOB2

    predicted = [[random.choice([tag, tag, *TAGS]) for tag in sentence] for sentence in gold]
    scores = {score.metric: score for score in span_scores(gold, predicted, data="x")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = {
            "f1": f1_score(gold, predicted),
            "precision": precision_score(gold, predicted),
            "recall": recall_score(gold, predicted),
            "f1_strict": f1_score(gold, predicted, mode="strict", scheme=IOB2),
        }
    for metric, value in oracle.items():
        mine = scores[metric].value
        assert (0.0 if mine is None else mine) == pytest.approx(100 * value, abs=1e-9), metric


def test_counts_by_hand():
    gold = [["B-X", "I-X", "O", "B-Y"], ["O", "O"]]
    predicted = [["B-X", "I-X", "B-Y", "O"], ["B-X", "O"]]
    scores = {score.metric: score for score in span_scores(gold, predicted, data="x", known=frozenset({"X"}))}
    assert scores["f1"].value == pytest.approx(100 * 2 / 5)
    assert scores["precision"].value == pytest.approx(100 / 3)
    assert scores["recall"].value == 50.0
    assert scores["f1_X"].value == pytest.approx(100 * 2 / 3)
    assert scores["f1_Y"].value == 0.0
    assert scores["f1"].notes == {"unknown_gold": 1}
    np.testing.assert_array_equal(scores["f1"].denominator, [4, 1])
    assert "repair:conll" in scores["f1"].signature
    assert all("|data:x|" in score.signature for score in scores.values())


def test_nothing_to_score_is_none():
    scores = span_scores([["O"]], [["O"]], data="x")
    assert [score.value for score in scores] == [None] * 4
    assert scores[0].interval is None


def test_wrong_requests():
    with pytest.raises(RequestError, match="no rule 'lenient'"):
        span_scores([["O"]], [["O"]], data="x", repair="lenient")
    with pytest.raises(RequestError, match="not of one shape"):
        span_scores([["O"]], [["O", "O"]], data="x")


def test_unknown_types_are_those_of_the_gold_spans_alone():
    """A type that is only predicted is an error already; one that is only in the gold cannot be predicted."""
    gold, predicted = [["B-Y", "B-Y", "B-X"]], [["B-X", "B-X", "B-Z"]]
    known = frozenset({"X"})
    assert span_scores(gold, predicted, data="x", known=known)[0].notes == {"unknown_gold": 2}
    assert span_scores(predicted, gold, data="x", known=known)[0].notes == {"unknown_gold": 1}


def test_a_type_that_is_only_predicted_has_an_f1_of_0_and_lowers_precision_alone():
    scores = {each.metric: each for each in span_scores([["B-X", "O"]], [["B-X", "B-Z"]], data="x")}
    assert list(scores) == ["f1", "precision", "recall", "f1_strict", "f1_X", "f1_Z"]
    assert (scores["f1_Z"].value, scores["f1_Z"].n) == (0.0, 1)
    assert [scores[name].value for name in ("precision", "recall", "f1_X")] == [50.0, 100.0, 100.0]
