from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crosslens.errors import RequestError
from crosslens.scores.intervals import (
    Sample,
    crossed,
    estimates,
    half_width,
    linearised,
    mean_sample,
    p_value,
    q_values,
)


def test_the_mean_of_a_row_is_that_seeds_score():
    generator = np.random.default_rng(0)
    denominator = generator.integers(1, 30, (4, 50))
    numerator = generator.binomial(denominator, 0.7)
    expected = 100 * numerator.sum(1) / denominator.sum(1)
    assert linearised(numerator, denominator).mean(1) == pytest.approx(expected, abs=1e-12)


def test_its_variance_is_that_of_a_bootstrap():
    """The interval over sentences of one seed against the percentile bootstrap that evaluations print."""
    from crosslens.scores.score import bootstrap_interval

    generator = np.random.default_rng(1)
    denominator = generator.integers(1, 40, (1, 800))
    numerator = generator.binomial(denominator, generator.beta(7, 3, (1, 800)))
    low, high = bootstrap_interval(numerator[0], denominator[0], resamples=4000)
    found = crossed(linearised(numerator, denominator)).estimate()
    assert found.high - found.low == pytest.approx(high - low, rel=0.05)
    assert np.isnan(found.std)
    assert np.isnan(found.p)
    assert found.over == "sentences"


def test_where_only_seeds_differ_it_is_students_interval():
    scores = np.array([70.0, 72.0, 69.0, 74.0, 71.0])
    found = crossed(np.repeat(scores[:, None], 300, axis=1)).estimate()
    half = stats.t.ppf(0.975, 4) * scores.std(ddof=1) / 5**0.5
    assert (found.low, found.high) == pytest.approx((scores.mean() - half, scores.mean() + half))
    assert found.over == "seeds and sentences"
    assert found.std == pytest.approx(scores.std(ddof=1))
    shifted = crossed(np.repeat(scores[:, None] - 71, 300, axis=1)).estimate()
    assert shifted.p == pytest.approx(stats.ttest_1samp(scores - 71, 0).pvalue)


@given(st.integers(2, 6), st.integers(2, 40), st.integers(0, 999))
def test_order_does_not_matter_and_shifts_shift(seeds, sentences, number):
    generator = np.random.default_rng(number)
    values = generator.normal(size=(seeds, sentences))
    found = crossed(values).estimate()
    mixed = crossed(values[generator.permutation(seeds)][:, generator.permutation(sentences)]).estimate()
    assert (mixed.low, mixed.high, mixed.p) == pytest.approx((found.low, found.high, found.p), rel=1e-6)
    moved = crossed(values + 3).estimate()
    assert (moved.low, moved.high) == pytest.approx((found.low + 3, found.high + 3))


def coverage(between_seeds, between_sentences, *, seeds, sentences=150, repeats=2000):
    """How often the 95 % interval holds the true score, of words right by chance."""
    generator = np.random.default_rng(12)
    words = generator.integers(3, 25, sentences)
    samples = []
    for _ in range(repeats):
        ease = generator.normal(0, between_sentences, (1, sentences))
        skill = generator.normal(0, between_seeds, (seeds, 1))
        right = generator.binomial(words, np.clip(0.6 + ease + skill, 0, 1))
        samples.append(crossed(linearised(right, np.broadcast_to(words, right.shape))))
    if seeds == 1:
        return np.mean([found.low <= 60 <= found.high for found in (sample.estimate() for sample in samples)])
    # All intervals at once, without their p-values; that `estimate` has the same ones is tested of the first.
    scores = np.stack([sample.scores for sample in samples])
    over_sentences = np.array([sample.variance for sample in samples])
    mean, half = scores.mean(1), half_width(scores.var(1, ddof=1) / seeds, seeds, over_sentences, sentences)
    first = samples[0].estimate()
    assert (mean[0] - half[0], mean[0] + half[0]) == pytest.approx((first.low, first.high))
    return np.mean(np.abs(mean - 60) <= half)


@pytest.mark.parametrize(
    ("between_seeds", "between_sentences", "seeds"),
    [
        (0.03, 0.03, 5),
        (0.002, 0.12, 5),
        (0.04, 0.0, 5),
        (0.01, 0.08, 5),
        (0.005, 0.05, 5),
        (0.01, 0.08, 3),
        (0.03, 0.03, 2),
        (0.01, 0.08, 2),
        (0.0, 0.1, 1),
    ],
)
def test_the_interval_covers_at_least_95_percent(between_seeds, between_sentences, seeds):
    """Of 2,000 intervals, so that 94 % may come out; more than 95 % where seeds and sentences vary alike."""
    assert coverage(between_seeds, between_sentences, seeds=seeds) >= 0.94


@pytest.mark.parametrize(
    ("between_seeds", "between_sentences", "seeds"), [(0.04, 0.0, 2), (0.04, 0.0, 5), (0.0, 0.1, 1)]
)
def test_it_covers_no_more_where_one_of_them_varies_alone(between_seeds, between_sentences, seeds):
    assert coverage(between_seeds, between_sentences, seeds=seeds) <= 0.97


def test_its_half_width_is_banerjees():
    parts = 0.3, 3, 0.2, 40
    expected = (stats.t.ppf(0.995, 2) ** 2 * 0.3 + stats.t.ppf(0.995, 39) ** 2 * 0.2) ** 0.5
    assert half_width(*parts, level=0.01) == pytest.approx(expected)
    assert p_value(expected, *parts) == pytest.approx(0.01)
    assert p_value(-expected, *parts) == pytest.approx(0.01)


@given(st.floats(0.01, 40), st.floats(0, 5), st.integers(2, 10), st.floats(0.001, 5), st.integers(2, 1000))
def test_p_is_the_level_of_the_interval_that_ends_at_0(mean, over_seeds, seeds, over_sentences, sentences):
    p = p_value(mean, over_seeds, seeds, over_sentences, sentences)
    assert 0 < p <= 1
    if p > 1e-149:
        assert half_width(over_seeds, seeds, over_sentences, sentences, level=p) == pytest.approx(mean, rel=1e-6)


def test_p_of_many_means_at_once():
    means, variances = np.array([[0.0, 1.0], [2.0, 80.0]]), np.array([0.5, 0.0])
    together = p_value(means, variances, 2, 0.1, 200)
    assert together.shape == (2, 2)
    for place in np.ndindex(2, 2):
        assert together[place] == pytest.approx(float(p_value(means[place], variances[place[1]], 2, 0.1, 200)))
    assert together[0, 0] == 1.0


def test_estimates_of_many_samples_are_those_of_each():
    generator = np.random.default_rng(3)
    samples = [
        Sample(generator.normal(1, 2, seeds), float(variance), sentences)
        for seeds in (1, 2, 3, 5)
        for variance in (0.0, 0.01, 4.0)
        for sentences in (2, 30, 1000)
    ]
    samples += [Sample(np.zeros(3), 0.0, 4), Sample(np.full(2, 7.0), 0.0, 4)]
    together = estimates(samples)
    assert len(together) == 38
    for sample, estimate in zip(samples, together, strict=True):
        alone = sample.estimate()
        assert astuple(estimate) == pytest.approx(astuple(alone), rel=1e-9, nan_ok=True)
        half = stats.t.ppf(0.975, sample.sentences - 1) * sample.variance**0.5
        if estimate.seeds == 1:
            assert (estimate.low, estimate.high) == pytest.approx((estimate.mean - half, estimate.mean + half))
            assert np.isnan([estimate.std, estimate.p]).all()
    assert estimates([]) == []


def test_two_seeds_that_agree_by_chance_are_not_certain():
    """A hundred sentences, two equal scores of 3 points: what the sentences say is all that is known."""
    agreed, apart = (Sample(np.array(scores), 0.3, 100).estimate() for scores in ([3.0, 3.0], [2.0, 4.0]))
    assert agreed.p < 0.001
    assert apart.p > 0.2
    assert apart.low < -9


def test_the_mean_over_corpora_takes_their_sentences_to_vary_together():
    samples = [Sample(np.array([1.0, 3.0]), 0.04, 50), Sample(np.array([5.0, 5.0]), 0.36, 80)]
    mean = mean_sample(samples)
    assert mean.scores.tolist() == [3.0, 4.0]
    assert mean.variance == pytest.approx(((0.2 + 0.6) / 2) ** 2)
    assert mean.sentences == 50
    assert mean_sample(samples[:1]) is samples[0]


def test_q_values_leave_out_what_was_not_tested():
    p = np.array([0.01, np.nan, 0.04, 0.03])
    assert q_values(p).tolist() == pytest.approx([0.03, np.nan, 0.04, 0.04], nan_ok=True)
    assert np.isnan(q_values(np.array([np.nan, np.nan]))).all()
    assert len(q_values(np.array([]))) == 0


def test_nothing_to_say_something_of():
    with pytest.raises(RequestError, match="needs 2 of them, and there is 1"):
        crossed(np.ones((3, 1)))
    with pytest.raises(RequestError, match="a score of nothing"):
        linearised(np.zeros((1, 3)), np.zeros((1, 3)))
    same = crossed(np.full((3, 4), 7.0)).estimate()
    assert (same.low, same.high, same.p) == (7.0, 7.0, 0.0)
    assert crossed(np.zeros((3, 4))).estimate().p == 1.0


def test_a_test_without_any_difference_is_one_of_the_family():
    """Its p-value of 1 makes the correction of the others stricter, as in Benjamini and Hochberg's formula."""
    p = np.array([0.01, 1.0, 0.04, np.nan, 1.0])
    assert q_values(p).tolist() == pytest.approx([0.04, 1.0, 0.08, np.nan, 1.0], nan_ok=True)
