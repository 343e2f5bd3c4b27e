"""The recall of each label, with its interval over the sentences that have it."""

from dataclasses import replace

import numpy as np

from crosslens.encoders.represent import represent_words
from crosslens.probes import probing
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.scores import bootstrap_interval
from made_corpora import sentences

TAGS = ("aa", "bb", "cc")


def without(sentence, tag):
    kept = [number for number, upos in enumerate(sentence.upos) if upos != tag]
    return replace(
        sentence, words=tuple(sentence.words[i] for i in kept), upos=tuple(sentence.upos[i] for i in kept), lines=None
    )


def test_the_recall_of_a_tag_is_counted_in_the_sentences_that_have_it(encoder, monkeypatch):
    """Guesses come from random weights; each sentence lacks another tag, and the last one has a single word."""
    test = sentences(9, seed=2)
    items = [without(each, TAGS[row % 3]) for row, each in enumerate(test.sentences)]
    items[-1] = replace(items[-1], words=items[-1].words[:1], upos=items[-1].upos[:1])
    test = replace(test, items=tuple(items))
    weights = np.random.default_rng(0).normal(size=(encoder.depth + 1, encoder.width, 3)).astype(np.float32)
    biases = np.zeros((len(weights), 1, 3), np.float32)
    monkeypatch.setattr(probing, "fit", lambda *data, **settings: (weights, biases))
    recalls = probe(encoder, "upos", train=sentences(12, seed=1), test=test, how=Fit(inputs="raw")).results.filter(
        metric="recall"
    )
    guesses = (represent_words(encoder, test) @ weights).argmax(-1)
    tags = np.asarray([tag for each in test.sentences for tag in each.upos])
    sentence = np.repeat(np.arange(len(test)), test.lengths)
    intervals = set()
    for record in recalls:
        has = tags == record.target
        right = has & (guesses[record.layer] == TAGS.index(record.target))
        counts = [np.bincount(sentence, weights=each).astype(np.int64) for each in (right, has)]
        rows = counts[1] > 0
        assert (record.low, record.high) == bootstrap_interval(counts[0][rows], counts[1][rows])
        intervals.add((record.low, record.high))
    assert len(intervals) > 3
