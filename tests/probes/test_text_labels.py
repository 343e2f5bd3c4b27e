"""Probes for labels of texts, on encoders whose states are changed."""

import numpy as np
import pytest

from crosslens.data.corpus import Corpus
from crosslens.encoders.condition import Condition
from crosslens.encoders.represent import represent
from crosslens.encoders.states.mean import Mean
from crosslens.errors import RequestError
from crosslens.probes import probing
from crosslens.probes.probing import probe
from made_corpora import texts


def changed(encoder):
    (mean,) = Condition(mean="2.output").interventions
    assert isinstance(mean, Mean)
    return mean.apply(encoder, seed=1)


@pytest.mark.parametrize("name", ["langid", "topic"])
def test_of_each_language_the_states_are_changed_as_those_of_a_corpus_of_its_own(encoder, fitted, name):
    """The mean over all languages would take away what distinguishes them; topics have no languages."""
    train, test = texts(4, seed=1), texts(2, seed=2)
    probe(changed(encoder), name, train=train, test=test, how=probing.Fit(inputs="raw"))
    answers = [item.label for item in train]
    assert answers != sorted(answers)
    whole = represent(changed(encoder), train).vectors
    apart = np.empty_like(whole)
    for language in set(answers):
        places = [place for place, answer in enumerate(answers) if answer == language]
        apart[:, places] = represent(changed(encoder), Corpus(tuple(train[i] for i in places), language)).vectors
    assert not np.allclose(apart, whole, atol=1e-3)
    read = np.concatenate([fitted[0]["train"][0], fitted[0]["dev"][0]], axis=1)
    expected = apart if name == "langid" else whole
    np.testing.assert_allclose(np.sort(read[-1, :, 0]), np.sort(expected[-1, :, 0]), rtol=1e-4, atol=1e-6)
    assert not np.allclose(np.sort(whole[-1, :, 0]), np.sort(apart[-1, :, 0]), atol=1e-3)


def test_words_of_several_languages_have_no_mean(encoder, toy):
    joined = toy("test")
    several = Corpus(joined.items, "both", "en+fr")
    with pytest.raises(RequestError, match=r"mean 2\.output acts on one language, but both has en\+fr"):
        represent(changed(encoder), several)
    assert represent(changed(encoder), joined).vectors.shape[1] == len(joined)
