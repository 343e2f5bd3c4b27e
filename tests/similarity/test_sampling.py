"""Intervals and nulls, against simulation and against closed forms."""

import numpy as np
import pytest

from crosslens.errors import RequestError
from crosslens.similarity.cka import centre, debiased_cka, length_matched_cka, linear_cka, select_rows, shuffled_cka
from crosslens.similarity.measures import MEASURES, find_measure
from crosslens.similarity.rbf import muller2021_code_cka, rbf_cka
from crosslens.similarity.retrieval import retrieval
from crosslens.similarity.sampling import jackknife, length_matched, shuffled


def drawn(generator, n, *, d=6, noise=1.0):
    X = generator.normal(size=(n, d)) * np.arange(1, d + 1)
    return centre(X), centre(X + noise * np.arange(1, d + 1) * generator.normal(size=(n, d)))


def coverage(measure):
    generator = np.random.default_rng(7)
    expected = np.mean([measure(*drawn(generator, 120)) for _ in range(3000)])
    covered = []
    for _ in range(1000):
        x, y = drawn(generator, 120)
        covered.append(abs(measure(x, y) - expected) <= jackknife([measure], x, y)[0])
    return np.mean(covered)


@pytest.mark.parametrize("measure", [linear_cka, debiased_cka])
def test_the_interval_covers_what_it_should(measure):
    assert 0.93 < coverage(measure) < 0.97


def test_the_interval_of_retrieval_is_on_the_wide_side():
    assert 0.95 < coverage(retrieval) < 1


def test_a_bootstrap_would_not():
    """Why it is a jackknife: sentences that are drawn twice are alike on both sides."""
    generator = np.random.default_rng(3)
    x, y = drawn(generator, 60, d=30)
    value = debiased_cka(x, y)
    draws = [generator.integers(60, size=60) for _ in range(400)]
    low = np.quantile([debiased_cka(select_rows(x, rows), select_rows(y, rows)) for rows in draws], 0.025)
    assert low > value  # the whole bootstrap interval lies above the value that it is for


def test_the_interval_is_that_of_leaving_out_single_sentences_where_they_are_few():
    x, y = drawn(np.random.default_rng(1), 12)
    values = [
        linear_cka(select_rows(x, rows), select_rows(y, rows))
        for i in range(12)
        for rows in [np.delete(np.arange(12), i)]
    ]
    error = np.sqrt(11 / 12 * np.sum((values - np.mean(values)) ** 2))
    both = jackknife([linear_cka, debiased_cka], x, y)
    assert both[0] == pytest.approx(2.200985 * error, rel=1e-5)  # Student's t, 11 degrees
    assert both[1] == jackknife([debiased_cka], x, y)[0]  # nothing hangs on what else is computed


def test_sampled_nulls_are_the_exact_ones_of_cka():
    generator = np.random.default_rng(5)
    X, noise = generator.normal(size=(200, 8)), generator.normal(size=(200, 8))
    lengths = generator.integers(5, 15, 200)
    X[:, 0] += lengths
    x, y = centre(X, lengths=lengths), centre(X + noise, lengths=lengths)
    for sampled, exact in ((shuffled, shuffled_cka), (length_matched, length_matched_cka)):
        means = [sampled(linear_cka, x, y, seed=seed) for seed in range(30)]
        assert np.mean(means) == pytest.approx(exact(x, y), rel=0.05)
    assert length_matched_cka(x, y) > 3 * shuffled_cka(x, y)  # so that the two are not taken for one another


def test_a_null_by_its_name():
    x, y = drawn(np.random.default_rng(2), 50)
    assert find_measure("retrieval_shuffled").compute(x, y) == pytest.approx(1 / 50, abs=0.02)
    assert find_measure("retrieval_shuffled").baseline_of == "retrieval"
    assert find_measure("cka_shuffled") is MEASURES["cka_shuffled"]
    assert np.isnan(find_measure("rsa_length_matched").compute(x, y))  # prepared without lengths
    for name in ("cka_shuffled_shuffled", "ckaa_shuffled", "cka_mixed"):
        with pytest.raises(RequestError, match="there is no measure"):
            find_measure(name)


def test_the_published_script_looks_at_a_quarter():
    """R8: four windows shifted by one row each, a Gaussian kernel; sentence 900 of 1,000 changes nothing."""
    generator = np.random.default_rng(8)
    X = generator.normal(size=(1000, 5))
    Y = X + generator.normal(size=(1000, 5))
    changed = Y.copy()
    changed[900] += 10
    assert linear_cka(X, Y) != linear_cka(X, changed)
    found = muller2021_code_cka(X, Y)
    assert found == pytest.approx(muller2021_code_cka(X, changed), abs=1e-12)  # BLAS may round by where arrays lie
    assert found == pytest.approx(np.mean([rbf_cka(X[i : i + 250], Y[i : i + 250]) for i in range(4)]), abs=1e-12)
    assert muller2021_code_cka(X, np.roll(Y, 1, axis=0)) != pytest.approx(found, abs=1e-3)
    with pytest.raises(RequestError, match="needs 8 sentences, but there are 7"):
        muller2021_code_cka(X[:7], Y[:7])
