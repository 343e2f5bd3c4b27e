"""The baselines of an alignment, by name."""

import numpy as np
import pytest

from crosslens.alignment.baselines import BASELINES, choose_baselines, fit_rotations
from crosslens.errors import RequestError


def test_without_a_mapping_nothing_is_shuffled_and_unknown_baselines_are_refused():
    assert choose_baselines(BASELINES, mapping="identity") == ("untrained",)
    assert choose_baselines(("identity", "untrained"), mapping="procrustes") == ("untrained", "identity")
    with pytest.raises(RequestError, match="there is no baseline 'shuffle'") as refused:
        choose_baselines(("shuffle",), mapping="procrustes")
    assert "'shuffled'" in str(refused.value.hint)


def test_each_seed_shuffles_the_pairs_in_its_own_way():
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 4))
    fitted = {each.seed: each.rotation for each in fit_rotations(X, Y, baselines=("shuffled",), seeds=(1, 2))}
    _, alone = fit_rotations(X, Y, baselines=("shuffled",), seeds=(2,))
    assert np.array_equal(fitted[2].matrix, alone.rotation.matrix)
    distances = [np.abs(fitted[a].matrix - fitted[b].matrix).max() for a, b in ((1, 2), (1, None), (2, None))]
    assert min(distances) > 0.1
