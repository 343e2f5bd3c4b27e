import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosslens.errors import RequestError
from crosslens.similarity.cka import (
    centre,
    debiased_cka,
    length_blocks,
    length_matched_cka,
    linear_cka,
    permuted,
    select_rows,
    shuffled_cka,
)

shapes = st.tuples(st.integers(4, 30), st.integers(1, 40), st.integers(1, 40), st.integers(0, 10_000))


def sample(shape):
    n, d, e, seed = shape
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, d)) * generator.gamma(1.0, 2.0, d)
    return X, X[:, :1] @ generator.normal(size=(1, e)) + generator.normal(size=(n, e))


def hsic(K, L):
    """The explicit biased estimator: trace(K H L H)."""
    n = len(K)
    H = np.eye(n) - 1 / n
    return np.trace(K @ H @ L @ H)


def unbiased_hsic(K, L):
    """Song et al. (2012), equation 5, term by term."""
    n = len(K)
    K, L = K.copy(), L.copy()
    np.fill_diagonal(K, 0)
    np.fill_diagonal(L, 0)
    one = np.ones(n)
    total = np.trace(K @ L) + (one @ K @ one) * (one @ L @ one) / ((n - 1) * (n - 2))
    return (total - 2 / (n - 2) * (one @ K @ L @ one)) / (n * (n - 3))


@given(shapes)
def test_it_equals_explicit_hsic(shape):
    X, Y = sample(shape)
    K, L = X @ X.T, Y @ Y.T
    assert linear_cka(X, Y) == pytest.approx(hsic(K, L) / np.sqrt(hsic(K, K) * hsic(L, L)), abs=1e-9)


@given(shapes)
def test_debiased_equals_explicit_unbiased_hsic(shape):
    X, Y = sample(shape)
    X, Y = X - X.mean(0), Y - Y.mean(0)
    K, L = X @ X.T, Y @ Y.T
    own = unbiased_hsic(K, K), unbiased_hsic(L, L)
    scale = (np.linalg.norm(K) * np.linalg.norm(L)) / len(X) ** 2
    if min(own) > 1e-6 * scale:
        assert debiased_cka(X, Y) == pytest.approx(unbiased_hsic(K, L) / np.sqrt(own[0] * own[1]), abs=1e-7)
    centred = centre(X), centre(Y)
    assert centred[0].unbiased == pytest.approx(own[0], abs=1e-9 * max(1.0, np.linalg.norm(K) ** 2))


def test_the_null_is_the_mean_over_all_orders():
    generator = np.random.default_rng(1)
    X, Y = generator.normal(size=(6, 3)), generator.normal(size=(6, 4))
    orders = [linear_cka(X, Y[list(order)]) for order in itertools.permutations(range(6))]
    assert shuffled_cka(X, Y) == pytest.approx(np.mean(orders), abs=1e-9)


def test_unrelated_sentences_score_d_over_d_plus_n_biased_and_nothing_debiased():
    generator = np.random.default_rng(0)
    X, Y = generator.normal(size=(1000, 256)), generator.normal(size=(1000, 256))
    assert linear_cka(X, Y) == pytest.approx(256 / 1256, abs=0.01)
    assert shuffled_cka(X, Y) == pytest.approx(256 / 1256, abs=0.01)
    assert debiased_cka(X, Y) == pytest.approx(0, abs=0.01)


@settings(max_examples=30)
@given(shapes)
def test_invariances(shape):
    X, Y = sample(shape)
    value = linear_cka(X, Y)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(X.shape[1], X.shape[1])))[0]
    assert linear_cka(X @ rotation * 3.0 + 5.0, Y) == pytest.approx(value, abs=1e-9)
    assert linear_cka(Y, X) == pytest.approx(value, abs=1e-9)
    assert linear_cka(X, X) == pytest.approx(1.0, abs=1e-9)
    assert debiased_cka(Y, X) == pytest.approx(debiased_cka(X, Y), abs=1e-9, nan_ok=True)
    order = np.random.default_rng(0).permutation(len(X))
    assert linear_cka(X[order], Y[order]) == pytest.approx(value, abs=1e-9)


def test_centring_matters_a_large_offset_does_not():
    X, Y = sample((200, 16, 16, 3))
    uncentred = np.linalg.norm(Y.T @ (X + 9)) ** 2 / np.linalg.norm((X + 9).T @ (X + 9)) / np.linalg.norm(Y.T @ Y)
    assert linear_cka(X + 1000, Y) == pytest.approx(linear_cka(X, Y), abs=1e-9)
    assert linear_cka(X + 9, Y) != pytest.approx(uncentred, abs=1e-2)
    assert linear_cka((X + 1000).astype(np.float32), Y) == pytest.approx(linear_cka(X, Y), abs=1e-5)


def test_every_sentence_counts():
    """R8: the published script read the first 253 of 1,000 sentences."""
    X, Y = sample((1000, 8, 8, 5))
    changed = Y.copy()
    changed[900] += 50
    assert linear_cka(X, changed) != pytest.approx(linear_cka(X, Y), abs=1e-6)


def test_a_constant_side_is_nan_never_zero():
    X = np.random.default_rng(0).normal(size=(10, 3))
    for measure in (linear_cka, debiased_cka, shuffled_cka):
        assert np.isnan(measure(X, np.ones((10, 2))))
        assert np.isnan(measure(X, np.full((10, 2), np.nan)))


def test_bad_input_is_refused():
    X = np.ones((5, 2))
    with pytest.raises(RequestError, match="there are 5 and 4"):
        linear_cka(X, X[:4])
    with pytest.raises(RequestError, match=r"shape \(5,\)"):
        linear_cka(X[:, 0], X)
    with pytest.raises(RequestError, match="needs at least 4 sentences"):
        debiased_cka(X[:3], X[:3])


def test_the_length_matched_null_is_the_mean_over_all_orders_within_lengths():
    generator = np.random.default_rng(3)
    X, Y = generator.normal(size=(9, 4)), generator.normal(size=(9, 3))
    blocks = np.array([0, 1, 0, 2, 1, 1, 2, 0, 2])
    orders = []
    for parts in itertools.product(*(itertools.permutations(np.flatnonzero(blocks == b)) for b in range(3))):
        order = np.empty(9, int)
        for b, part in enumerate(parts):
            order[blocks == b] = part
        orders.append(linear_cka(X, Y[order]))
    y = centre(Y, lengths=np.repeat(0, 9))
    y = dataclasses.replace(y, block=blocks)
    assert len(orders) == 6**3
    assert length_matched_cka(X, y) == pytest.approx(np.mean(orders), abs=1e-12)


@given(shapes)
def test_with_one_length_it_is_the_plain_null_and_with_all_apart_it_is_cka(shape):
    X, Y = sample(shape)
    n = len(X)
    assert length_matched_cka(X, centre(Y, lengths=np.ones(n))) == pytest.approx(shuffled_cka(X, Y), abs=1e-9)
    y = centre(Y)
    apart = dataclasses.replace(y, block=np.arange(n))
    assert length_matched_cka(X, apart) == pytest.approx(linear_cka(X, Y), abs=1e-9)


def test_length_alone_is_found_to_be_length():
    """Two views that know nothing but the length are as alike as their null says, and the plain null misses it."""
    generator = np.random.default_rng(4)
    lengths = generator.integers(3, 30, 400)
    direction = generator.normal(size=(1, 8))
    X, Y = (lengths[:, None] * direction + generator.normal(size=(400, 8)) for _ in range(2))
    value, null = linear_cka(X, Y), length_matched_cka(X, centre(Y, lengths=lengths))
    assert value > 0.9
    assert abs(value - null) < 0.01
    assert shuffled_cka(X, Y) < 0.05


@given(st.lists(st.integers(1, 40), min_size=1, max_size=200))
def test_blocks_are_stretches_of_lengths_and_large_enough(lengths):
    lengths = np.asarray(lengths)
    blocks = length_blocks(lengths, smallest=7)
    assert set(blocks) == set(range(blocks.max() + 1))
    for number in range(blocks.max() + 1):
        inside = lengths[blocks == number]
        assert len(inside) >= min(7, len(lengths))
        outside = lengths[blocks != number]
        assert not ((outside >= inside.min()) & (outside <= inside.max())).any()


def test_a_length_of_just_enough_items_is_a_group_of_its_own():
    assert length_blocks(np.repeat([3, 4, 9], 7), smallest=7).tolist() == [0] * 7 + [1] * 7 + [2] * 7
    assert length_blocks(np.repeat([3, 4, 9], 6), smallest=7).tolist() == [0] * 18


def test_a_null_without_lengths_is_refused():
    with pytest.raises(RequestError, match="needs the sentence lengths"):
        length_matched_cka(np.eye(4), np.eye(4))


@given(shapes)
def test_reordered_rows_are_those_of_the_reordered_matrix(shape):
    """Everything that is kept of a matrix moves with its rows."""
    X, Y = sample(shape)
    order = np.random.default_rng(shape[-1]).permutation(len(X))
    lengths = np.arange(len(X)) % 3
    block = length_blocks(lengths, smallest=2)
    moved = permuted(dataclasses.replace(centre(X), block=block), order)
    expected = centre(X[order])
    assert np.array_equal(moved.block, block[order])
    np.testing.assert_allclose(moved.features, expected.features, atol=1e-9)
    np.testing.assert_allclose(moved.squares, expected.squares, atol=1e-9)
    assert debiased_cka(moved, Y) == pytest.approx(debiased_cka(X[order], Y), abs=1e-7, nan_ok=True)


@given(shapes)
def test_selected_rows_are_those_of_the_selected_matrix(shape):
    """With the mean that was subtracted, which measures of uncentred vectors add again."""
    X, _ = sample(shape)
    rows = np.flatnonzero(np.random.default_rng(shape[-1]).random(len(X)) < 0.6)
    rows = rows if len(rows) else np.arange(1)
    X = X + 7.0
    selected, expected = select_rows(centre(X, lengths=np.ones(len(X))), rows), centre(X[rows])
    np.testing.assert_allclose(selected.features, expected.features, atol=1e-9)
    np.testing.assert_allclose(selected.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(selected.squares, expected.squares, atol=1e-9)
    assert selected.norm == pytest.approx(expected.norm, abs=1e-9)
    assert not selected.block.any()
