import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

from crosslens.alignment.rotation import Normalisation, fit_rotation
from crosslens.errors import RequestError

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, 8)) + 2.0
TURN = ortho_group.rvs(8, random_state=1)


def by_hand(x, rounds):
    """Zhang et al. (2019), as their code does it: renorm, then so many times centre and renorm."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    for _ in range(rounds):
        x = x - x.mean(0)
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return x


@pytest.mark.parametrize("rounds", [0, 1, 5])
def test_normalisation_is_that_of_zhang_et_al(rounds):
    normal = Normalisation.of(X, rounds=rounds)
    assert np.allclose(normal(X), by_hand(X, rounds), atol=1e-6)
    assert np.allclose(np.linalg.norm(normal(X), axis=1), 1)
    assert np.array_equal(normal(X[:3]), normal(X)[:3])  # rows that come later are treated alike


def test_lists_and_float32_are_computed_in_float64():
    single = X.astype(np.float32)
    expected = Normalisation.of(single.astype(np.float64))
    for rows in (single, single.tolist()):
        normal = Normalisation.of(rows)
        assert np.array_equal(normal.means, expected.means)
        assert np.array_equal(normal(rows), expected(single.astype(np.float64)))
        assert normal(rows).dtype == np.float64
        rotation = fit_rotation(rows, (X @ TURN).tolist())
        assert np.array_equal(rotation.matrix, fit_rotation(single.astype(np.float64), X @ TURN).matrix)


def test_its_mean_is_near_zero_and_a_row_of_zeros_is_no_trouble():
    assert np.abs(Normalisation.of(X)(X).mean(0)).max() < 1e-3
    assert np.isfinite(Normalisation.of(np.vstack([X, np.zeros(8)]))(np.zeros((1, 8)))).all()


def test_rows_shorter_than_the_rounding_of_their_length_keep_their_direction():
    tiny = np.asarray([[3e-9, 4e-9], [3e-12, 4e-12]])
    found = Normalisation(np.zeros((0, 2)))(tiny)
    assert np.allclose(found / np.linalg.norm(found, axis=1, keepdims=True), [0.6, 0.8])
    assert np.linalg.norm(found, axis=1).max() < 1


def test_a_turned_space_is_turned_back():
    rotation = fit_rotation(X, X @ TURN)
    assert np.allclose(rotation.matrix @ rotation.matrix.T, np.eye(8), atol=1e-10)
    assert np.allclose(rotation(X), rotation.target(X @ TURN), atol=1e-6)


def test_it_is_the_closed_form_of_the_paper():
    Y = GENERATOR.normal(size=(200, 8))
    x, y = by_hand(X, 5), by_hand(Y, 5)
    rotation = fit_rotation(X, Y)
    expected, _ = orthogonal_procrustes(x, y)
    assert np.allclose(rotation.matrix, expected, atol=1e-5)
    # The paper's columns: W = U Vᵀ of SVD(Y Xᵀ), and W X.
    u, _, v = np.linalg.svd(y.T @ x)
    assert np.allclose(rotation.matrix.T, u @ v, atol=1e-5)


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_both_spaces_are_normalised_in_as_many_rounds(rounds):
    rotation = fit_rotation(X, X @ TURN + 1, rounds=rounds)
    assert rotation.source.means.shape == rotation.target.means.shape == (rounds, 8)
    assert np.allclose(rotation.target(X @ TURN + 1), by_hand(X @ TURN + 1, rounds), atol=1e-6)


def test_no_other_rotation_is_nearer():
    Y = X @ TURN + GENERATOR.normal(size=X.shape)
    rotation = fit_rotation(X, Y)
    best = np.linalg.norm(rotation(X) - rotation.target(Y))
    for seed in range(20):
        other = rotation.source(X) @ ortho_group.rvs(8, random_state=seed)
        assert best < np.linalg.norm(other - rotation.target(Y))


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (X, X[:5], "two matrices of the same shape"),
        (X, X[:, :3], "two matrices of the same shape"),
        (X[0], X[0], "two matrices of the same shape"),
        (X[:1], X[:1], "at least 2 pairs"),
        (X, np.full_like(X, np.nan), "NaN or infinite"),
    ],
)
def test_what_no_rotation_can_be_learnt_from(a, b, reason):
    with pytest.raises(RequestError, match=reason):
        fit_rotation(a, b)


@pytest.mark.parametrize("rounds", [-1, 1.5, "2"])
def test_what_is_no_number_of_rounds_is_refused(rounds):
    """-1 would be 0 under another name."""
    with pytest.raises(RequestError, match=f"rounds={rounds!r} is not an integer of at least 0"):
        fit_rotation(TURN, TURN, rounds=rounds)
