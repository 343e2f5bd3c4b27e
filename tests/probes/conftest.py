"""Fixtures: every probe, and a training that fits nothing."""

import numpy as np
import pytest

from crosslens.probes import PROBES, probing


@pytest.fixture(params=[*PROBES.built_in, "length"])
def asked(request, plugins):
    return PROBES[request.param]


@pytest.fixture
def fitted(monkeypatch):
    """What the linear layers were fitted on, call by call; they guess the first answer."""
    calls = []

    def fit_nothing(vectors, answers, dev, dev_answers, *, classes, **more):
        calls.append({"train": (vectors, answers), "dev": (dev, dev_answers)})
        return np.zeros((*vectors.shape[::2], classes), np.float32), np.zeros((len(vectors), 1, classes), np.float32)

    monkeypatch.setattr(probing, "fit", fit_nothing)
    return calls
