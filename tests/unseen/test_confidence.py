"""Probes of a source, and how sure they are of a text."""

import numpy as np
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.encoders.represent import represent_words
from crosslens.errors import DataError, RequestError
from crosslens.unseen.confidence import (
    Confidence,
    SourceProbes,
    measure_confidence,
    probed_layers,
    read_states,
    train_probes,
)


def test_layers_from_half_to_three_quarters_of_the_depth():
    assert probed_layers(12) == (6, 7, 8, 9)
    assert probed_layers(24) == tuple(range(12, 19))
    assert probed_layers(2) == (1,)
    assert probed_layers(1) == (1,)


def test_confidence_by_hand():
    """Two probes on one layer of width 1, two tags: the first is sure of the sign, the second always of the second."""
    probes = SourceProbes(
        (1,),
        np.zeros((1, 1, 1)),
        np.ones((1, 1, 1)),
        np.array([[[[5.0, -5.0]]], [[[0.0, 0.0]]]]),
        np.array([[[[0.0, 0.0]]], [[[0.0, 1.0]]]]),
        75.0,
        0.8,
    )
    states = np.array([[[1.0], [-1.0], [0.0], [2.0]]])
    # votes: (1 + .27) / 2 = .63 of the first; (1 + .73) / 2 = .87 of the second; (.5 + .73) / 2 of the second; .63
    # the single probes agree with them on: 1 and not 2; both; a tie is the first and not; 1 and not 2
    assert measure_confidence(probes, states) == Confidence(pytest.approx(25.0), pytest.approx(62.5))


def test_the_probe_of_each_layer_is_asked_whether_it_agrees():
    """The first layer is sure of the first tag and outvotes the second layer: half of the probes agree."""
    biases = np.array([[[[2.0, 0.0]], [[0.0, 1.0]]]] * 2)
    probes = SourceProbes((1, 2), np.zeros((2, 1, 1)), np.ones((2, 1, 1)), np.zeros((2, 2, 1, 2)), biases, 75.0, 0.8)
    assert measure_confidence(probes, np.zeros((2, 3, 1))) == Confidence(0.0, 50.0)


def test_on_the_source_confidence_is_accuracy(encoder):
    """The threshold is chosen so; and no sentence is both trained on and held out."""
    source = load_corpus("lab/src:train[:100]")
    probes = train_probes(encoder, source)
    held_out = Corpus(source.items[4::5], "held out", "src")
    confidence = measure_confidence(probes, read_states(encoder, held_out))
    assert probes.accuracy > 40
    assert confidence.confident == pytest.approx(probes.accuracy, abs=100 / held_out.words + 0.1)
    again = train_probes(encoder, source)
    assert (again.weights == probes.weights).all()
    assert again.threshold == probes.threshold


def test_a_source_that_is_easy_gives_confidence_in_nearly_all_words(encoder):
    """Where the held-out words are all right, the threshold is that of the least sure one."""
    tags = {"the": "DET", "cat": "NOUN", "sees": "VERB"}
    words = [tuple(np.random.default_rng(row).permutation(list(tags))) for row in range(40)]
    items = tuple(Sentence(each, upos=tuple(tags[word] for word in each)) for each in words)
    probes = train_probes(encoder, Corpus(items, "easy", "src"))
    assert probes.accuracy > 95
    confidence = measure_confidence(probes, read_states(encoder, Corpus(items[4::5], "held out", "src")))
    assert confidence.confident == pytest.approx(probes.accuracy, abs=5)


def test_running_text_is_read_as_words(encoder):
    lines = Corpus((Text(("the cat sees .",)), Text(("...",)), Text(("a dog",))), "raw", "en")
    states = read_states(encoder, lines)
    assert states.shape[:2] == (len(probed_layers(encoder.depth)), lines_words(lines))


def test_a_text_is_read_at_the_layers_of_the_probes(encoder):
    assert encoder.depth == 4
    source = load_corpus("lab/src:train[:5]")
    np.testing.assert_array_equal(read_states(encoder, source), represent_words(encoder, source)[[2, 3]])


def lines_words(lines):
    from crosslens.data.formats.text import cut_words

    return cut_words(lines).words


def test_sources_that_teach_nothing(encoder):
    with pytest.raises(RequestError, match="at least 5"):
        train_probes(encoder, load_corpus("lab/src:train[:4]"))
    with pytest.raises(DataError, match="UPOS"):
        train_probes(encoder, Corpus((Sentence(("a", "b")),) * 9, "bare", "en"))


def test_probes_learn_nothing_from_the_sentences_that_measure_them(encoder):
    """Every fifth sentence is held out, and only these have symbols: no probe knows the tag."""
    corpus = load_corpus("lab/src:train[:40]")
    items = tuple(
        Sentence(sentence.words, ("SYM",) * len(sentence) if number % 5 == 4 else sentence.upos)
        for number, sentence in enumerate(corpus.sentences)
    )
    assert train_probes(encoder, corpus).accuracy > 0
    assert train_probes(encoder, Corpus(items, "symbols", "en")).accuracy == 0


def test_states_are_scaled_by_the_sentences_that_are_trained_on(encoder):
    source = load_corpus("lab/src:train[:40]")
    words = np.repeat(np.arange(len(source)), source.lengths)
    trained = represent_words(encoder, source)[list(probed_layers(encoder.depth))][:, words % 5 != 4]
    probes = train_probes(encoder, source)
    np.testing.assert_allclose(probes.mean, trained.mean(1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(probes.spread, trained.std(1, keepdims=True), atol=1e-6)


def test_the_first_sentences_of_long_data_are_read(encoder, monkeypatch):
    """However much there is of it, so that evidence is comparable between corpora."""
    monkeypatch.setattr("crosslens.unseen.confidence.TRAIN_SENTENCES", 20)
    source = load_corpus("lab/src:train[:30]")
    np.testing.assert_array_equal(train_probes(encoder, source).weights, train_probes(encoder, source[:20]).weights)
    monkeypatch.setattr("crosslens.unseen.confidence.TEXT_SENTENCES", 5)
    np.testing.assert_array_equal(read_states(encoder, source), read_states(encoder, source[:5]))
