"""What every measure promises, on random matrices, and each against an explicit formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist

from crosslens.errors import RequestError
from crosslens.similarity.cca import pwcca, svcca
from crosslens.similarity.cka import centre
from crosslens.similarity.measures import DEFAULT_MEASURES, MEASURES, choose_measures
from crosslens.similarity.neurons import anc
from crosslens.similarity.procrustes import procrustes
from crosslens.similarity.rbf import rbf_cka
from crosslens.similarity.retrieval import cosine, mexa, retrieval, retrieval_csls
from crosslens.similarity.rsa import rsa

pytestmark = pytest.mark.usefixtures("plugins")

sizes = st.tuples(st.integers(5, 40), st.integers(2, 12), st.integers(0, 10_000))


def sample(size):
    """Two representations of like width that have something in common."""
    n, d, seed = size
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d)) * generator.gamma(2.0, 1.0, d)
    return X, X @ generator.normal(size=(d, d)) + generator.normal(size=(n, d)), generator


def value(name, X, Y):
    lengths = np.arange(len(X)) % 3
    return MEASURES[name].compute(centre(X, lengths=lengths), centre(Y, lengths=lengths))


CHANGES = {
    "rotation": lambda X, generator: X @ np.linalg.qr(generator.normal(size=(X.shape[1], X.shape[1])))[0],
    "scaling": lambda X, generator: X * generator.uniform(0.1, 10),
    "translation": lambda X, generator: X + generator.normal(size=X.shape[1]) * 5,
}


@pytest.mark.parametrize("name", [*MEASURES.built_in, "dot"])
@settings(max_examples=25)
@given(st.tuples(st.integers(26, 50), st.integers(2, 12), st.integers(0, 10_000)))  # more sentences than 2 widths
def test_each_keeps_what_it_promises(name, size):
    measure = MEASURES[name]
    X, Y, generator = sample(size)
    found = value(name, X, Y)
    if found != found:
        return  # undefined, such as an unbiased norm below 0
    if measure.bounded:
        assert measure.low - 1e-9 <= found <= measure.high + 1e-9
    for change in measure.invariant:
        assert value(name, CHANGES[change](X, generator), Y) == pytest.approx(found, abs=1e-7)
        assert value(name, X, CHANGES[change](Y, generator)) == pytest.approx(found, abs=1e-7)
    if measure.symmetric:
        assert value(name, Y, X) == pytest.approx(found, abs=1e-9)
    if measure.equal is not None:
        assert value(name, X, X) == pytest.approx(measure.equal, abs=1e-9)
    order = generator.permutation(len(X))
    if not measure.ordered:
        assert value(name, X[order], Y[order]) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("name", [*MEASURES.built_in, "dot"])
def test_constants_and_what_is_no_number_have_no_similarity(name):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(12, 4))
    broken = X.copy()
    broken[3, 2] = np.nan
    for bad in (np.ones((12, 4)), np.full((12, 4), 0.1), broken):
        if "translation" not in MEASURES[name].invariant and bad is not broken:
            continue  # it does not centre, and a constant is a vector like any other
        assert np.isnan(value(name, X, bad))
        assert np.isnan(value(name, bad, X))
    with pytest.raises(RequestError, match="the same sentences on both sides, but there are 12 and 11"):
        value(name, X, X[:11])


def test_nulls_are_of_measures_and_the_usual_ones_are_there():
    assert set(DEFAULT_MEASURES) <= set(MEASURES)
    for measure in MEASURES.values():
        assert measure.baseline_of is None or measure.baseline_of in MEASURES
        assert measure.about.endswith(".")


@given(sizes)
def test_procrustes_is_what_the_best_rotation_leaves(size):
    X, Y, _ = sample(size)
    X, Y = (Z - Z.mean(0) for Z in (X, Y))
    X, Y = (Z / np.linalg.norm(Z) for Z in (X, Y))
    rotation, _ = orthogonal_procrustes(X, Y)
    assert procrustes(X, Y) == pytest.approx(1 - ((X @ rotation - Y) ** 2).sum() / 2, abs=1e-9)


def explicit_cca(X, Y):
    """Canonical correlations by whitening, and the canonical directions of X."""

    def whiten(Z):
        values, vectors = np.linalg.eigh(Z.T @ Z)
        return Z @ vectors / np.sqrt(values)

    left, correlations, _ = np.linalg.svd(whiten(X).T @ whiten(Y), full_matrices=False)
    return correlations, whiten(X) @ left


@given(sizes)
def test_canonical_correlations_are_those_of_whitened_sides(size):
    n, d, seed = size
    generator = np.random.default_rng(seed)
    d = min(d, n // 2 - 1) or 1
    X = generator.normal(size=(n, d))  # of even variances, so that 99 % need every direction
    Y = X + generator.normal(size=(n, d))
    X, Y = X - X.mean(0), Y - Y.mean(0)
    if any((np.linalg.svd(Z, compute_uv=False) ** 2)[-1] <= 0.0101 * (Z**2).sum() for Z in (X, Y)):
        return
    correlations, directions = explicit_cca(X, Y)
    assert svcca(X, Y) == pytest.approx(correlations.mean(), abs=1e-9)
    weights = np.abs(directions.T @ X).sum(1)
    if 2 * d >= n:
        assert np.isnan(pwcca(X, Y))
        return
    assert pwcca(X, Y) == pytest.approx((correlations * weights).sum() / weights.sum(), abs=1e-9)


def test_directions_without_variance_are_left_out():
    generator = np.random.default_rng(1)
    X = generator.normal(size=(50, 3))
    noisy = np.hstack([X, 1e-4 * generator.normal(size=(50, 20))])
    assert svcca(X, noisy) == pytest.approx(1, abs=1e-3)


@given(sizes)
def test_rsa_is_spearman_over_pairs_of_sentences(size):
    X, Y, _ = sample(size)
    upper = np.triu_indices(len(X), 1)
    expected = stats.spearmanr(cdist(X, X)[upper], cdist(Y, Y)[upper]).statistic
    assert rsa(X, Y) == pytest.approx(expected, abs=1e-9)


def test_rsa_does_not_depend_on_scale():
    X, Y, _ = sample((12, 4, 0))
    assert rsa(X * 1e-4, Y) == pytest.approx(rsa(X, Y), abs=1e-9)


def test_without_different_distances_there_is_no_rsa():
    X, Y, _ = sample((3, 4, 0))
    unknown = np.where(np.arange(3)[:, None] == 1, np.nan, X)
    for without in (np.eye(3), unknown):  # all distances are equal, or one is unknown
        assert np.isnan([rsa(without, Y), rsa(Y, without)]).all()
    assert np.isnan([rsa(X[:count], Y[:count]) for count in (1, 2)]).all()


def test_equal_distances_share_a_rank_in_rsa():
    """Points of a grid, some of them several times, have many equal distances."""
    X, Y = np.random.default_rng(4).integers(3, size=(2, 14, 2)).astype(float)
    upper = np.triu_indices(len(X), 1)
    expected = stats.spearmanr(cdist(X, X, "sqeuclidean")[upper], cdist(Y, Y, "sqeuclidean")[upper]).statistic
    assert len(np.unique(cdist(X, X)[upper])) < 7
    assert rsa(X, Y) == pytest.approx(expected, abs=1e-9)


@given(sizes, st.integers(1, 3))
def test_rbf_cka_is_hsic_of_explicit_kernels(size, times):
    """Also where sentences are repeated, whose distance 0 does not count."""
    X, Y, _ = sample(size)
    X, Y = np.tile(X, (times, 1)), np.tile(Y, (times, 1))
    n = len(X)
    H = np.eye(n) - 1 / n

    def kernel(Z):
        squares = cdist(Z, Z, "sqeuclidean")
        return np.exp(-squares / (2 * np.median(squares[squares > 0])))

    K, L = kernel(X), kernel(Y)
    expected = np.trace(K @ H @ L @ H) / np.sqrt(np.trace(K @ H @ K @ H) * np.trace(L @ H @ L @ H))
    assert rbf_cka(X, Y) == pytest.approx(expected, abs=1e-9)


@given(sizes)
def test_retrieval_counts_nearest_neighbours(size):
    X, Y, _ = sample(size)
    X, Y = X - X.mean(0), Y - Y.mean(0)
    cosine = 1 - cdist(X, Y, "cosine")
    n, k = len(X), min(10, len(X))
    near = np.sort(cosine, 1)[:, -k:].mean(1), np.sort(cosine, 0)[-k:].mean(0)
    csls = 2 * cosine - near[0][:, None] - near[1][None]
    for scores, found in ((cosine, retrieval(X, Y)), (csls, retrieval_csls(X, Y))):
        there = (scores.argmax(1) == np.arange(n)).mean() + (scores.argmax(0) == np.arange(n)).mean()
        assert found == pytest.approx(there / 2)


@given(sizes)
def test_mexa_and_cosine_look_at_the_vectors_as_they_are(size):
    X, Y, _ = sample(size)
    X, Y = X + 2, Y - 1
    scores = 1 - cdist(X, Y, "cosine")
    n = len(X)
    others = [[scores[i, j] for j in range(n) if j != i] + [scores[j, i] for j in range(n) if j != i] for i in range(n)]
    assert mexa(X, Y) == pytest.approx(np.mean([scores[i, i] > max(others[i]) for i in range(n)]))
    outside = scores[~np.eye(n, dtype=bool)].mean()
    assert cosine(X, Y) == pytest.approx(np.diag(scores).mean() - outside, abs=1e-9)


@given(sizes)
def test_anc_is_the_mean_of_pearsons_over_neurons(size):
    X, Y, _ = sample(size)
    expected = np.mean([stats.pearsonr(X[:, i], Y[:, i]).statistic for i in range(X.shape[1])])
    assert anc(X, Y) == pytest.approx(expected, abs=1e-9)
    still = X.copy()
    still[:, 0] = 3
    assert anc(still, Y) == pytest.approx(expected - stats.pearsonr(X[:, 0], Y[:, 0]).statistic / X.shape[1], abs=1e-9)
    still[:, 0] = 0.1  # the mean of many of them differs from it by rounding
    assert anc(still, still) == pytest.approx(1 - 1 / X.shape[1], abs=1e-9)


def test_retrieval_needs_one_width_and_counts_no_ties():
    generator = np.random.default_rng(2)
    assert np.isnan(retrieval(generator.normal(size=(9, 3)), generator.normal(size=(9, 4))))
    X = np.repeat(generator.normal(size=(5, 3)), 2, axis=0)  # every sentence comes twice
    assert retrieval(X, X) == 0


@pytest.mark.parametrize(
    ("values", "kept"),
    [([10.0, 1.1, 0.1], 2), ([10.0, 0.6, 0.6], 1), ([5.0, 5.0, 5.0], 3), ([10.0, 1.1, 0.0], 2)],
)
def test_svcca_keeps_the_directions_of_99_percent_of_the_variance(values, kept):
    """X has known singular values; of its directions, Y has only those that are left out."""
    generator = np.random.default_rng(0)
    sample = generator.normal(size=(40, 7))
    left = np.linalg.qr(sample - sample.mean(0))[0]  # orthogonal and centred
    X = left[:, :3] * values
    kept_alone, others = left[:, :kept], left[:, kept:6]
    assert svcca(X, kept_alone) == pytest.approx(1, abs=1e-6)
    assert svcca(X, others) == pytest.approx(0, abs=1e-6)
    mixed = np.concatenate([left[:, :1], left[:, 3:6]], axis=1)  # one of the kept directions
    assert svcca(X, mixed) == pytest.approx(1 / kept, abs=1e-6)


def test_asked_baselines_stand_in_place_of_the_default_ones():
    assert list(choose_measures()) == list(DEFAULT_MEASURES)
    assert list(choose_measures(baselines=["untrained"])) == ["cka", "cka_debiased"]
    suffixed = ["cka_shuffled", "cka_debiased_shuffled"]
    assert list(choose_measures(baselines=["shuffled", "untrained"])) == ["cka", "cka_debiased", *suffixed]


@pytest.mark.parametrize("sentences", [7, 8, 9])
def test_weighted_correlations_need_more_sentences_than_directions(sentences):
    """Four directions a side: with eight centred sentences some correlation is 1, whatever they say."""
    X, Y = np.random.default_rng(0).normal(size=(2, sentences, 4))
    assert np.isnan(pwcca(X, Y)) == (sentences < 9)
