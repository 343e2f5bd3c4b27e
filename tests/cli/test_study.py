"""What commands on studies read from a folder of runs."""

import json

from crosslens.cli._study import describe_differences, mean_seconds
from crosslens.runs.store import Store
from crosslens.training.identity import run_id


def test_the_estimate_of_a_task_is_the_mean_of_the_seconds_of_all_its_runs(tmp_path):
    store = Store(tmp_path)
    for task, seed, seconds in (("pos", 1, 10.0), ("pos", 2, 20.0), ("pos", 3, 60.0), ("ner", 1, 5.0)):
        identity = {"task": task, "seed": seed}
        described = {"identity": identity, "label": "a run", "facts": {"seconds": seconds}}
        store.path(run_id(identity)).mkdir()
        (store.path(run_id(identity)) / "run.json").write_text(json.dumps(described))
    assert mean_seconds(store) == {"pos": 30.0, "ner": 5.0}


def test_long_values_that_differ_are_shortened():
    different = {"train.digest": ("0123456789abcdef" * 4, "fedcba9876543210" * 4), "seed": (2, 1)}
    assert describe_differences(different) == (
        "seed: 2 instead of 1; train.digest: 0123456789ab… instead of fedcba987654…"
    )
