"""The claim that the laboratory is for, over worlds and seeds; every run is printed (``pytest -m slow -s``)."""

import pytest

from crosslens.demo.demo import lab_demo, run_demo
from crosslens.encoders.condition import Condition
from crosslens.report.finding import effects

SEEDS = 3


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("world", [0, 1, 2])
def test_the_lowest_layers_carry_the_transfer(tmp_path, world):
    """POS: drawing 1-2 anew costs the other languages more than 5 points and the source less than 3; 5-6 neither 5."""
    demo = lab_demo(f"good-w{world}", seeds=SEEDS)
    conditions = tuple(Condition(layers=layers) for layers in (None, "1-2", "3-4", "5-6"))
    study = demo.study.model_copy(update={"conditions": conditions, "similarity": None})
    results = run_demo(type(demo)(study, "", ""), tmp_path / "out", cache=tmp_path / "cache")
    found = {effect.task: effect for effect in effects(results)}
    for task, effect in found.items():
        print(f"\nworld {world}, {task}: reference {effect.reference[0]:.1f} / {effect.reference[1]:.1f}")
        for layers in effect.cross:
            values = " ".join(f"{value:+.1f}" for value in effect.cross[layers].values)
            print(f"  {layers}: source {effect.same[layers]}, others {effect.cross[layers]} ({values})")
    effect = found["pos"]
    assert effect.cross["1-2"].mean < -5
    assert effect.same["1-2"].mean > -3
    assert effect.cross["5-6"].mean > -5
    assert effect.same["5-6"].mean > -5
