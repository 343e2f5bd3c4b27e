import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crosslens.errors import RequestError
from crosslens.scores.crossed import crossed, linearised


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
    found = crossed(linearised(numerator, denominator))
    assert found.high - found.low == pytest.approx(high - low, rel=0.05)
    assert np.isnan(found.std)


def test_where_only_seeds_differ_it_is_students_interval():
    scores = np.array([70.0, 72.0, 69.0, 74.0, 71.0])
    found = crossed(np.repeat(scores[:, None], 300, axis=1))
    half = stats.t.ppf(0.975, 4) * scores.std(ddof=1) / 5**0.5
    assert (found.low, found.high) == pytest.approx((scores.mean() - half, scores.mean() + half))
    assert found.freedom == pytest.approx(4)
    assert found.std == pytest.approx(scores.std(ddof=1))
    shifted = crossed(np.repeat(scores[:, None] - 71, 300, axis=1))
    assert shifted.p == pytest.approx(stats.ttest_1samp(scores - 71, 0).pvalue)


@given(st.integers(2, 6), st.integers(2, 40), st.integers(0, 999))
def test_order_does_not_matter_and_shifts_shift(seeds, sentences, number):
    generator = np.random.default_rng(number)
    values = generator.normal(size=(seeds, sentences))
    found = crossed(values)
    mixed = crossed(values[generator.permutation(seeds)][:, generator.permutation(sentences)])
    assert (mixed.low, mixed.high, mixed.p) == pytest.approx((found.low, found.high, found.p), rel=1e-6)
    moved = crossed(values + 3)
    assert (moved.low, moved.high) == pytest.approx((found.low + 3, found.high + 3))


def coverage(between_seeds, between_sentences, *, seeds, sentences=150, repeats=2000):
    """How often the 95 % interval holds the true score, of words right by chance."""
    generator = np.random.default_rng(12)
    words = generator.integers(3, 25, sentences)
    hits = 0
    for _ in range(repeats):
        ease = generator.normal(0, between_sentences, (1, sentences))
        skill = generator.normal(0, between_seeds, (seeds, 1))
        right = generator.binomial(words, np.clip(0.6 + ease + skill, 0, 1))
        found = crossed(linearised(right, np.broadcast_to(words, right.shape)))
        hits += found.low <= 60 <= found.high
    return hits / repeats


@pytest.mark.parametrize(
    ("between_seeds", "between_sentences", "seeds"),
    [
        (0.03, 0.03, 5),
        (0.002, 0.12, 5),
        (0.04, 0.0, 5),
        (0.01, 0.08, 5),
        (0.005, 0.05, 5),
        (0.01, 0.08, 3),
        (0.0, 0.1, 1),
    ],
)
def test_the_interval_covers_95_percent(between_seeds, between_sentences, seeds):
    assert 0.93 <= coverage(between_seeds, between_sentences, seeds=seeds) <= 0.97


def test_nothing_to_say_something_of():
    with pytest.raises(RequestError, match="needs 2 of them, and there is 1"):
        crossed(np.ones((3, 1)))
    with pytest.raises(RequestError, match="a score of nothing"):
        linearised(np.zeros((1, 3)), np.zeros((1, 3)))
    same = crossed(np.full((3, 4), 7.0))
    assert (same.low, same.high, same.p) == (7.0, 7.0, 0.0)
