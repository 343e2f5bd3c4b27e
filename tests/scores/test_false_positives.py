"""A small part of ``benchmarks/false_positives.py``: equal conditions are not called different."""

from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def simulation(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import false_positives  # pyright: ignore[reportMissingImports]

    return false_positives


WAYS = [
    {"seeds": 2, "spread": 1.1},
    {"seeds": 2, "spread": 0.3, "unequal": True},
    {"seeds": 3, "spread": 2.0},
    {"seeds": 5, "spread": 1.1, "unequal": True},
    {"seeds": 2, "spread": 2.0, "corpora": 1},
]


@pytest.mark.parametrize("means", [False, True])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_equal_conditions_are_called_different_in_5_percent_of_studies_at_most(simulation, way, means):
    """Of 400 studies: 5 % and two standard errors are 7.2 %."""
    generator = np.random.default_rng(3)
    false, coverage = simulation.null(simulation.Setting(**way), studies=400, generator=generator, means=means)
    assert false <= 7.2
    assert coverage >= 94


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_satterthwaites_degrees_of_freedom_would_not_pass(simulation, way):
    false, _ = simulation.null(
        simulation.Setting(**way), studies=400, generator=np.random.default_rng(3), procedure=simulation.satterthwaite
    )
    assert false > 7.2


def test_a_difference_is_found_where_it_is_large(simulation):
    generator = np.random.default_rng(4)
    large = simulation.Setting(seeds=5, effects=(-8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert simulation.power(large, studies=100, generator=generator) > 95
    assert simulation.power(large, studies=100, generator=generator, means=True) > 95


def test_the_draws_are_as_they_are_said_to_be(simulation):
    generator = np.random.default_rng(5)
    setting = simulation.Setting(seeds=4, spread=2.0, shared=0.25, effects=-3.0)
    differences, variances = simulation.draw(setting, 2000, generator)
    assert differences.shape == (2000, 7, 15, 4)
    assert differences.mean() == pytest.approx(-3, abs=0.1)
    assert differences.var(-1, ddof=1).mean() == pytest.approx(2 * 2.0**2, rel=0.03)  # of a model and of the reference
    assert differences.mean(2).var(-1, ddof=1).mean() == pytest.approx(2 * 4.0 * (0.25 + 0.75 / 15), rel=0.05)
    assert variances.mean() == pytest.approx(simulation.ERROR**2, rel=0.01)
