"""Scores with intervals instead of counts per sentence."""

import numpy as np
import pytest
from scipy import stats

from crosslens.errors import RequestError
from crosslens.scores.intervals import crossed
from crosslens.scores.unpaired import SENTENCES, Unpaired, sample_of


def test_the_variance_is_that_of_a_normal_interval():
    half = stats.norm.ppf(0.975) * 1.7
    score = Unpaired.of_interval(60.0, 60.0 - half, 60.0 + half)
    assert score.variance == pytest.approx(1.7**2)
    assert (score.value, score.mean()) == (60.0, 60.0)


def test_differences_add_variances():
    assert Unpaired(70.0, 1.0) - Unpaired(60.0, 3.0) == Unpaired(10.0, 4.0)


def test_the_estimate_of_one_model_is_that_of_its_counts():
    """On one side nothing is paired: mean, interval and seeds are those of the contributions of the sentences."""
    rng = np.random.default_rng(3)
    values = rng.normal(70.0, 20.0, (1, SENTENCES))
    counted = crossed(values).estimate()
    half = stats.norm.ppf(0.975) * values[0].std(ddof=1) / SENTENCES**0.5
    score = sample_of([Unpaired.of_interval(values.mean(), values.mean() - half, values.mean() + half)])
    estimate = score.estimate()
    assert (estimate.low, estimate.high) == pytest.approx((counted.low, counted.high))
    assert estimate.seeds == counted.seeds == 1


def test_independent_models_have_the_interval_of_their_counts():
    """Where sentences of two models have nothing in common, adding the variances is exact up to sampling."""
    rng = np.random.default_rng(4)
    a, b = rng.normal(70.0, 20.0, (2, 3, 5000))

    def unpaired(values):
        half = stats.norm.ppf(0.975) * values.std(ddof=1) / np.sqrt(values.size)
        return Unpaired.of_interval(values.mean(), values.mean() - half, values.mean() + half)

    ours = sample_of([unpaired(x) - unpaired(y) for x, y in zip(a, b, strict=True)])
    counted = [crossed((x - y)[None]).variance for x, y in zip(a, b, strict=True)]
    assert ours.variance == pytest.approx(np.mean(counted), rel=0.05)
    assert ours.scores == pytest.approx((a - b).mean(axis=1))


def test_contributions_of_sentences_are_summarised_as_before():
    values = np.random.default_rng(5).normal(size=(3, 50))
    ours, theirs = sample_of(list(values)), crossed(values)
    assert np.array_equal(ours.scores, theirs.scores)
    assert (ours.variance, ours.sentences) == (theirs.variance, theirs.sentences)
    with pytest.raises(RequestError, match="an interval over sentences needs 2"):
        sample_of([np.ones(1)])


def test_seeds_on_the_same_sentences_have_the_mean_of_their_variances():
    sample = sample_of([Unpaired(60.0, 1.0), Unpaired(62.0, 3.0), Unpaired(64.0, 8.0)])
    assert sample.variance == pytest.approx(4.0)
    assert sample.scores.tolist() == [60.0, 62.0, 64.0]
