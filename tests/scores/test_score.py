import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosslens.digests import stream_seed
from crosslens.errors import RequestError
from crosslens.scores import accuracy, bootstrap_interval

tags = st.sampled_from(["NOUN", "VERB", "X"])
pairs = st.lists(st.lists(st.tuples(tags, tags), max_size=6), min_size=1, max_size=8)


@given(pairs)
def test_accuracy_is_right_words_over_words(sentences):
    gold = [[g for g, _ in s] for s in sentences]
    guess = [[p for _, p in s] for s in sentences]
    words = [pair for s in sentences for pair in s]
    score = accuracy(gold, guess, data="d")
    assert score.n == len(words)
    if words:
        assert score.value == pytest.approx(100 * sum(g == p for g, p in words) / len(words))
    else:
        assert score.value is None
    if sum(map(bool, sentences)) > 1:
        low, high = score.interval
        assert low <= high
    else:
        assert score.interval is None  # the spread over sentences is unknown


def test_gold_labels_that_training_never_saw_are_errors_and_counted():
    score = accuracy([["NOUN", "SYM", "SYM"]], [["NOUN", "NOUN", "SYM"]], data="d", known=frozenset({"NOUN"}))
    assert score.notes == {"unknown_gold": 2, "most_frequent_gold": 2}
    assert score.n == 3


def test_gold_labels_that_are_all_the_same_are_counted():
    """As in the first fifty texts of SIB-200, which is sorted by topic: a constant guess is right."""
    assert accuracy([["A"], ["A"]], [["A"], ["B"]], data="d").notes == {"most_frequent_gold": 2, "same_gold": 2}
    assert accuracy([["A"], ["B"]], [["A"], ["A"]], data="d").notes == {"most_frequent_gold": 1}
    assert accuracy([["A"]], [["A"]], data="d").notes == {"most_frequent_gold": 1}


@given(st.lists(st.lists(st.sampled_from("ABC"), max_size=4), max_size=6))
def test_the_most_frequent_gold_label_is_counted(gold):
    """Always predicting it is right so often, and no other label is right more often."""
    notes = accuracy(gold, gold, data="d").notes
    right = [accuracy(gold, [[label] * len(labels) for labels in gold], data="d").numerator.sum() for label in "ABC"]
    assert notes.get("most_frequent_gold", 0) == max(right)


def test_sentences_and_words_must_match():
    with pytest.raises(RequestError, match="2 gold sentences but 1"):
        accuracy([["A"], ["A"]], [["A"]], data="d")
    with pytest.raises(RequestError, match="sentence 2: 1 gold labels but 2"):
        accuracy([["A"], ["A"]], [["A"], ["A", "B"]], data="d")


def test_the_signature_says_what_to_know_to_repeat_it():
    score = accuracy([["A"]], [["A"]], data="0123456789abcdef", rule="task:pos|words:all")
    metric, task, words, data, version = score.signature.split("|")
    assert (metric, task, words, data) == ("accuracy", "task:pos", "words:all", "data:0123456789ab")
    assert version.startswith("crosslens:")


def test_the_interval_covers_the_truth_about_95_times_in_100():
    generator = np.random.default_rng(7)
    inside = 0
    trials = 300
    for _ in range(trials):
        words = generator.integers(5, 30, 200)
        right = generator.binomial(words, 0.8)
        low, high = bootstrap_interval(right, words, resamples=400)
        inside += low <= 80.0 <= high
    # 300 trials of a true 95 % stay within 91 to 98.5 % all but once in a thousand times.
    assert 0.91 <= inside / trials <= 0.985


def test_the_same_counts_have_the_same_interval():
    counts = np.arange(1, 50), np.arange(1, 50) + 3
    assert bootstrap_interval(*counts) == bootstrap_interval(*counts)


def test_many_sentences_are_resampled_in_parts_with_the_same_numbers():
    sentences, resamples = 30_001, 300
    words = np.random.default_rng(1).integers(1, 30, sentences)
    right = np.random.default_rng(2).binomial(words, 0.8)
    shares = np.full(sentences, 1 / sentences)
    draws = np.random.default_rng(stream_seed(0, "bootstrap")).multinomial(sentences, shares, resamples)
    expected = np.quantile(100.0 * (draws @ right) / (draws @ words), [0.025, 0.975])
    tracemalloc.start()
    interval = bootstrap_interval(right, words, resamples=resamples)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert interval == tuple(expected)
    assert peak < 0.8 * draws.nbytes
