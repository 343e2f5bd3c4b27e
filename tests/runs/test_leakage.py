"""Warnings of test items that are also in the training data."""

from dataclasses import replace

import pytest

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.runs.leakage import leakage_warnings


def corpus(first, last, *, name="mine", language="en", kind=Sentence):
    """Items first to last, each unlike the others."""
    items = tuple(Sentence(("word", str(n))) if kind is Sentence else Text((f"text {n}",)) for n in range(first, last))
    return Corpus(items, name, language)


TRAIN = corpus(0, 100, name="train")


def test_a_test_corpus_of_which_much_was_trained_on_is_named_with_how_much():
    (warning,) = leakage_warnings(TRAIN, [corpus(200, 240), corpus(90, 130, name="leaky")])
    assert warning == (
        "10 sentences of leaky (25 %) are also in the training data (train), so its score says little about new"
        " sentences"
    )


@pytest.mark.parametrize(("shared", "warns"), [(0, False), (4, False), (5, True)])
def test_few_sentences_in_a_hundred_recur_in_every_corpus(shared, warns):
    assert bool(list(leakage_warnings(TRAIN, [corpus(100 - shared, 200 - shared, name="test")]))) is warns


def test_texts_are_called_texts():
    train, test = corpus(0, 9, kind=Text), corpus(8, 18, name="test", kind=Text)
    (warning,) = leakage_warnings(train, [test])
    assert warning == (
        "1 text of test (10 %) is also in the training data (mine), so its score says little about new texts"
    )


@pytest.mark.parametrize("language", ["en-Cyrl", "fr", None])
def test_the_language_does_not_matter(language):
    test = corpus(0, 10, name="test", language=language)
    assert list(leakage_warnings(TRAIN, [test]))
    assert list(leakage_warnings(replace(TRAIN, language=None), [test]))


def test_what_is_called_the_training_corpus_elsewhere_is_not_warned_of_twice():
    part = corpus(0, 10, name="a")
    joined = replace(TRAIN, name="a+b", language="en+fr")
    assert not list(leakage_warnings(TRAIN, [TRAIN, replace(TRAIN, name="copy"), Corpus((), "empty", "en")]))
    assert not list(leakage_warnings(joined, [part]))
    assert list(leakage_warnings(joined, [replace(part, name="c")]))


def test_only_what_is_trained_on_counts():
    """Of every tenth of the sentences."""
    test = corpus(1, 10, name="test")
    assert list(leakage_warnings(TRAIN, [test]))
    assert not list(leakage_warnings(TRAIN, [test], limit=10))


def test_development_data_are_searched_for_in_training_and_test_data():
    """Where weights are selected on them."""
    dev, tests = corpus(95, 105, name="dev"), [corpus(104, 114, name="test"), corpus(200, 210, name="other")]
    assert list(leakage_warnings(TRAIN, tests)) == []
    assert [warning.split(", so")[0] for warning in leakage_warnings(TRAIN, tests, dev=dev)] == [
        "5 sentences of dev (50 %) are also in the training data (train)",
        "1 sentence of test (10 %) is also in the development data (dev)",
    ]
    assert [warning.split(", so")[0] for warning in leakage_warnings(TRAIN, [dev], dev=dev)][1:] == [
        "10 sentences of dev (100 %) are also in the development data (dev)",
        "5 sentences of dev (50 %) are also in the training data (train)",
    ]
    assert len(list(leakage_warnings(TRAIN, [], dev=TRAIN))) == 1
