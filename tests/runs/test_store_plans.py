"""Plans of studies in a store: which files are kept, and what is collected of an unfinished study."""

import json

from crosslens.runs.store import Store
from crosslens.training import versions
from made_runs import FRENCH, answers, asked, publish


def test_every_file_of_a_plan_is_kept(tmp_path):
    store = Store(tmp_path)
    files = {"study.yaml": "name: s\n", "plan.json": "{}\n"}
    assert store.keep_plan("s", files) is None
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "studies" / "s").iterdir()} == files


def test_finished_runs_are_collected_whichever_are_unfinished(tmp_path):
    store = Store(tmp_path)
    wanted = [asked(FRENCH, seed=seed) for seed in (1, 2, 3, 4)]
    plan = {"runs": {}, "waiting": 0, "versions": versions.current(), "asked": [each.view for each in wanted]}
    store.keep_plan("s", {"plan.json": json.dumps(plan)})
    assert len(store.collect("s")) == 0
    for place in (1, 3):
        publish(store, wanted[place], answers(FRENCH))
    assert store.collect("s").records["seed"].to_pylist() == [2, 4]
