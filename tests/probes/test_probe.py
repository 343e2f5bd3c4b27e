"""Probes by name, and their settings."""

import pytest

from crosslens.errors import RequestError
from crosslens.probes import find_probe
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from made_corpora import texts


def test_names_and_settings():
    with pytest.raises(RequestError, match=r"no probe 'langd'.*did you mean 'langid'"):
        find_probe("langd")
    assert find_probe("langid", {"pooling": "cls"}).pooling == "cls"
    with pytest.raises(RequestError, match="pooling=middle"):
        find_probe("langid", {"pooling": "middle"})


def test_settings_of_the_training_that_differ_from_the_defaults_are_recorded(encoder, fitted):
    how = Fit(epochs=1, learning_rate=0.01, batch=32)
    probed = probe(encoder, "langid", train=texts(4, seed=1), test=texts(2, seed=2), how=how)
    assert {record.settings for record in probed.results} == {"inputs=scaled learning_rate=0.01 epochs=1"}
