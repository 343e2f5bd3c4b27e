"""The baselines of an alignment, by name."""

import numpy as np
import pytest

from crosslens.alignment.baselines import BASELINES, baseline_of, choose_baselines, fit_rotations
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


def test_rotations_have_names_and_seeds_and_the_identity_turns_nothing():
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 4))
    fitted = fit_rotations(X, Y, baselines=("shuffled", "identity"), seeds=(1, 2))
    names = [(each.name, each.seed) for each in fitted]
    assert names == [("procrustes", None), ("procrustes_shuffled", 1), ("procrustes_shuffled", 2), ("identity", None)]
    assert np.array_equal(fitted[-1].rotation.matrix, np.eye(4))
    assert not np.allclose(fitted[0].rotation.matrix, np.eye(4), atol=0.1)
    (alone,) = fit_rotations(X, Y, mapping="identity", baselines=("shuffled", "identity"))
    assert (alone.name, alone.seed) == ("identity", None)
    assert np.array_equal(alone.rotation.matrix, np.eye(4))


@pytest.mark.parametrize(
    ("condition", "measure", "mapping", "baseline"),
    [
        ("none", "words procrustes", "procrustes", None),
        ("none", "words procrustes_shuffled", "procrustes", "shuffled"),
        ("none", "sentences identity", "procrustes", "identity"),
        ("none", "sentences identity", "identity", None),
        ("1-2", "words procrustes", "procrustes", None),
        ("0-4", "words procrustes", "procrustes", "untrained"),
        ('{"tower": 2}', None, "procrustes", None),
        ('{"tower": 2, "mapped_by": "procrustes_shuffled"}', None, "procrustes", "shuffled"),
        ('{"tower": 2, "mapped_by": "identity"}', None, "procrustes", "identity"),
        ('{"tower": 2, "mapped_by": "identity"}', None, "identity", None),
    ],
)
def test_a_record_tells_the_baseline_that_it_belongs_to(condition, measure, mapping, baseline):
    record = {"condition": condition, "measure": measure, "depth": 4}
    assert baseline_of(record, mapping=mapping) == baseline
