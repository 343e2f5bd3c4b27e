"""The claim that the laboratory is for, over worlds and seeds; every run is printed (``pytest -m slow -s``)."""

import pytest

import crosslens.demo.demo as demo
from crosslens.demo.finding import effects
from crosslens.lab.laboratory import Laboratory
from crosslens.lab.presets import PRESETS

SEEDS = 3


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("world", [0, 1, 2])
def test_the_lowest_layers_carry_the_transfer(monkeypatch, tmp_path, world):
    """POS: drawing 1-2 anew costs the other languages more than 5 points and the source less than 3; 5-6 neither 5."""
    settings = PRESETS["good"].model_copy(update={"seed": world})
    monkeypatch.setattr(demo, "find_laboratory", lambda preset: Laboratory(settings, preset=preset))
    monkeypatch.setattr(demo, "TASKS", ("pos",))
    monkeypatch.setattr(demo, "CONDITIONS", ("", "1-2", "3-4", "5-6"))
    results = demo.run_demo("good", tmp_path / "out", seeds=SEEDS, cache=tmp_path / "cache")
    (effect,) = effects(results)
    print(f"\nworld {world}: reference {effect.reference[0]:.1f} / {effect.reference[1]:.1f}")
    for layers in effect.cross:
        values = " ".join(f"{value:+.1f}" for value in effect.cross[layers].values)
        print(f"  {layers}: source {effect.same[layers]}, others {effect.cross[layers]} ({values})")
    assert effect.cross["1-2"].mean < -5
    assert effect.same["1-2"].mean > -3
    assert effect.cross["5-6"].mean > -5
    assert effect.same["5-6"].mean > -5
