"""What a run id knows: result versions, and seeds of re-initialised layers."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.tasks import find_task
from crosslens.training import versions
from crosslens.training.identity import run_id, training_identity
from crosslens.training.recipe import Recipe

CONDITIONS = {
    "whole": Condition(),
    "re-initialised": Condition(layers="1-2"),
    "frozen": Condition(freeze="1"),
    "bilstm": Condition(start="bilstm"),
}


def identity(condition, **changes):
    given = {"encoder": "e", "seed": 1, "task": find_task("pos"), "recipe": Recipe(), "train": "t", "dev": None}
    return run_id(training_identity(condition=condition, **given | changes))


@pytest.mark.parametrize(
    ("version", "changed"),
    [
        ("FINE_TUNING", {"whole", "re-initialised", "bilstm"}),
        ("FINE_TUNING_FROZEN", {"frozen"}),
        ("BILSTM", {"bilstm"}),
        ("SCORING", set()),
    ],
)
def test_a_new_version_changes_the_ids_of_the_runs_whose_weights_change(monkeypatch, version, changed):
    before = {name: identity(condition) for name, condition in CONDITIONS.items()}
    assert len(set(before.values())) == len(CONDITIONS)
    monkeypatch.setattr(versions, version, 99)
    after = {name: identity(condition) for name, condition in CONDITIONS.items()}
    assert {name for name in CONDITIONS if after[name] != before[name]} == changed


def test_a_seed_of_any_change_that_is_not_the_runs_own_is_another_run():
    """The seeds of changes are no part of the id where all are the run's."""
    condition = Condition(layers="1-2")
    ids = [identity(condition, drawn=drawn) for drawn in ((), (1,), (1, 1))]
    assert len(set(ids)) == 1
    others = [identity(condition, drawn=drawn) for drawn in ((2, 1), (1, 2), (2, 2), (1, 3))]
    assert len({*ids, *others}) == 1 + len(others)
