"""The claim that the laboratory is for, over worlds and seeds; every run is printed (``pytest -m slow -s``)."""

import pytest

from crosslens.demo.demo import lab_demo, run_demo
from crosslens.encoders.condition import Condition
from crosslens.report.findings import effects

SEEDS = 3


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("world", [0, 1, 2])
def test_the_lowest_layers_carry_the_transfer(tmp_path, world):
    """POS: re-initialising 1-2 costs other languages more than 5 points and the source less than 3; 5-6 neither 5."""
    demo = lab_demo(f"good-w{world}", seeds=SEEDS)
    conditions = tuple(Condition(layers=layers) for layers in (None, "1-2", "3-4", "5-6"))
    study = demo.study.model_copy(update={"conditions": conditions, "similarity": None})
    results = run_demo(type(demo)(study, "", ""), tmp_path / "out", cache=tmp_path / "cache")
    found = {effect.task: effect for effect in effects(results)}
    for task, effect in found.items():
        print(f"\nworld {world}, {task}: reference {effect.same.mean:.1f} / {effect.cross.mean:.1f}")
        for change in effect.changes:
            values = " ".join(f"{value:+.1f}" for value in change.cross.values)
            print(f"  {change.label}: source {change.same}, others {change.cross} ({values})")
    changes = {change.label: change for change in found["pos"].changes}
    assert changes["1-2"].cross.mean < -5
    assert changes["1-2"].same.mean > -3
    assert changes["5-6"].cross.mean > -5
    assert changes["5-6"].same.mean > -5
