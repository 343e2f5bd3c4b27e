import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from crosslens.errors import RequestError
from crosslens.results.record import Results
from crosslens.similarity.correlate import correlate

ORACLES = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau}


def languages(values):
    return {f"l{number:02}": float(value) for number, value in enumerate(values)}


@pytest.mark.parametrize("coefficient", ORACLES)
@given(st.integers(3, 12), st.integers(0, 1000))
def test_it_is_scipys_coefficient(coefficient, n, seed):
    generator = np.random.default_rng(seed)
    x, y = generator.normal(size=(2, n))
    found = correlate(languages(x), languages(y), coefficient=coefficient, resamples=20)
    assert found.value == pytest.approx(ORACLES[coefficient](x, y).statistic, abs=1e-12)
    assert found.low <= found.high
    assert (found.warning is None) == (n >= 8)


def test_languages_that_one_side_lacks_are_left_out():
    gap, similarity = {"a": 1.0, "b": 2.0, "c": 3.0}, {"c": 0.1, "b": 0.2, "a": 0.3}
    found = correlate({**gap, "x": 9.0}, {**similarity, "y": 0.0})
    assert found.languages == ("a", "b", "c")
    frame = pd.DataFrame({"gap": {**gap, "x": 9.0}, "similarity": {**similarity, "y": 0.0}})  # missing values are NaN
    assert correlate(frame["gap"].to_dict(), frame["similarity"].to_dict()) == found
    assert found.value == pytest.approx(-1)
    assert found.p == pytest.approx(2 / 6)  # of the six orders, two are as far from 0
    assert found.warning == "3 languages are too few to say anything"


def test_languages_without_what_is_controlled_for_are_left_out():
    gap, similarity = (languages(np.random.default_rng(seed).normal(size=9)) for seed in (1, 2))
    fertility = {name: float(number**2) for number, name in enumerate(gap) if number not in (0, 4)}
    found = correlate(gap, similarity, control={"fertility": fertility}, resamples=20)
    assert found.languages == tuple(sorted(fertility))
    assert found.control == ("fertility",)
    fewer = [{name: side[name] for name in fertility} for side in (gap, similarity)]
    assert found == correlate(*fewer, control={"fertility": fertility}, resamples=20)


@pytest.mark.parametrize("controls", [0, 3])
def test_the_permutation_test_keeps_its_level(controls):
    """Of 300 draws in which nothing goes together about one in twenty has p <= 0.05."""
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        x, y, *others = map(languages, generator.normal(size=(2 + controls, 9)))
        control = {f"control {number}": side for number, side in enumerate(others)}
        hits += correlate(x, y, control=control, resamples=199).p <= 0.05
    assert 4 <= hits <= 28


def test_what_does_not_vary_has_no_correlation():
    found = correlate(languages([1, 1, 1, 1]), languages([1, 2, 3, 4]))
    assert np.isnan([found.value, found.low, found.high, found.p]).all()
    assert found.constant == ("gap",)
    assert correlate(languages([1, 2, 3, 4]), languages([1, 1, 1, 1])).constant == ("similarity",)
    assert correlate(languages([1, 1, 1, 1]), languages([1, 1, 1, 1])).constant == ("gap", "similarity")
    assert correlate(languages([1, 2, 3, 4]), languages([1, 2, 4, 3])).constant == ()


def test_fewer_than_three_languages_are_refused():
    with pytest.raises(RequestError, match="at least 3 languages, but there is 1"):
        correlate({"a": 1.0, "b": 2.0}, {"a": 1.0})
    with pytest.raises(RequestError, match="at least 3 languages, but there are 2"):
        correlate({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0})


def test_the_same_call_gives_the_same_interval():
    x, y = np.random.default_rng(6).normal(size=(2, 10))
    assert correlate(languages(x), languages(y)) == correlate(languages(x), languages(y))


def known(n, seed):
    generator = np.random.default_rng(seed)
    z = generator.normal(size=n)
    x, y = z + generator.normal(size=n), -z + generator.normal(size=n)
    names = [f"l{i:02}" for i in range(n)]
    return [dict(zip(names, its.tolist(), strict=True)) for its in (x, y, z)]


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_a_partial_correlation_is_its_formula(coefficient):
    x, y, z = known(25, 4)
    ranked = stats.rankdata if coefficient == "spearman" else np.asarray
    r = np.corrcoef([ranked(list(its.values())) for its in (x, y, z)])
    expected = (r[0, 1] - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    found = correlate(x, y, control={"z": z}, coefficient=coefficient)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.low < found.value < found.high
    # What both hang on is all that they have in common here.
    assert correlate(x, y, coefficient=coefficient).p < 0.1
    assert found.p > 0.1


def test_what_is_controlled_for_needs_languages_too():
    x, y, z = known(3, 1)
    with pytest.raises(RequestError, match="at least 3 languages, and one more for each of z, but there are 3"):
        correlate(x, y, control={"z": z})
    with pytest.raises(RequestError, match="not supported for Kendall's coefficient"):
        correlate(*known(9, 1)[:2], control={"z": known(9, 1)[2]}, coefficient="kendall")


def test_what_is_explained_whole_has_no_correlation():
    x, y, _ = known(12, 2)
    explained = correlate(x, y, control={"x": x}, coefficient="pearson")
    assert np.isnan(explained.value)
    assert explained.constant == ("gap",)


def test_p_is_twice_the_smaller_tail_of_all_orders():
    """Of skewed values the two tails differ: 2 min(tails) is not the share at least as far from 0."""
    x, y = [0.0, 1.0, 2.0, 9.0, 30.0], [3.0, 1.0, 2.0, 5.0, 20.0]
    own = np.corrcoef(x, y)[0, 1]
    every = np.asarray([np.corrcoef(order, y)[0, 1] for order in itertools.permutations(x)])
    tails = (every >= own - 1e-12).mean(), (every <= own + 1e-12).mean()
    found = correlate(languages(x), languages(y), coefficient="pearson")
    assert found.p == pytest.approx(2 * min(tails))
    assert found.p != pytest.approx((abs(every) >= abs(own) - 1e-12).mean())


def test_the_interval_is_from_the_percentiles_of_resampled_languages():
    """2.5 and 97.5 % of the coefficients of languages drawn with replacement, here by another generator."""
    x, y = np.random.default_rng(8).normal(size=(2, 20))
    y = y + x
    interval = correlate(languages(x), languages(y), coefficient="pearson", resamples=20_000)
    drawn = np.random.default_rng(9).integers(20, size=(20_000, 20))
    coefficients = [np.corrcoef(x[places], y[places])[0, 1] for places in drawn]
    assert (interval.low, interval.high) == pytest.approx(np.quantile(coefficients, [0.025, 0.975]), abs=0.015)


def residual(values, z):
    """What a straight line in z leaves of values."""
    return values - np.polyval(np.polyfit(z, values, 1), z)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_p_of_a_partial_correlation_is_of_all_orders_of_the_residuals(coefficient):
    """Residuals of ranks are no ranks: ranked again they would be other values.

    In another order they hang on the confound again, which is taken out again.
    """
    x, y, z = known(6, 11)
    ranked = stats.rankdata if coefficient == "spearman" else np.asarray
    confound = ranked(list(z.values()))
    gap, similarity = (residual(ranked(list(side.values())), confound) for side in (x, y))
    own = np.corrcoef(gap, similarity)[0, 1]
    every = np.asarray(
        [np.corrcoef(residual(np.asarray(order), confound), similarity)[0, 1] for order in itertools.permutations(gap)]
    )
    tails = (every >= own - 1e-9).mean(), (every <= own + 1e-9).mean()
    found = correlate(x, y, control={"z": z}, coefficient=coefficient)
    assert found.p == pytest.approx(min(2 * min(tails), 1))


def test_the_interval_of_a_partial_correlation_is_controlled_in_every_resample():
    """Both sides hang on the confound alone; resampled without control they would go together."""
    generator = np.random.default_rng(12)
    z = generator.normal(size=20)
    x, y = (3 * z + generator.normal(size=20) for _ in range(2))
    found = correlate(languages(x), languages(y), control={"z": languages(z)}, coefficient="pearson", resamples=4000)
    coefficients = []
    for places in generator.integers(20, size=(1000, 20)):
        sides = [residual(side[places], z[places]) for side in (x, y)]
        coefficients.append(np.corrcoef(sides)[0, 1])
    assert (found.low, found.high) == pytest.approx(np.quantile(coefficients, [0.025, 0.975]), abs=0.08)


@pytest.mark.parametrize("resamples", [0, -1, 10.0])
def test_what_is_no_number_of_resamples_is_refused(resamples):
    with pytest.raises(RequestError, match=f"resamples={resamples!r} is not an integer of at least 1"):
        correlate({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}, resamples=resamples)


def test_results_are_for_the_function_that_computes_the_values_by_language():
    values = {"a": 1, "b": 2, "c": 3}
    for sides in ((Results.of([]), values), (values, [1, 2, 3])):
        with pytest.raises(RequestError, match=r"a value for each language, not a (Results|list) .*correlations"):
            correlate(*sides)
    with pytest.raises(RequestError, match="a value for each language, not a Results"):
        correlate(values, values, control=Results.of([]))
