"""Conditions: what each says of the layers."""

from crosslens.encoders.condition import Condition


def test_a_condition_knows_what_it_does():
    assert Condition().is_reference
    assert not Condition(recipe="small").interventions
    assert not Condition(recipe="small").is_reference
    assert Condition(layers="1-4").reinitialised(12) == (1, 2, 3, 4)
    assert Condition(layers="0-2").reinitialised(12) == (0, 1, 2)
    assert not Condition(layers="0-2").is_untrained(12)
    assert not Condition(layers="1-12").is_untrained(12)
    assert Condition(layers="0-12").is_untrained(12)
    assert Condition(layers="0,all", factor="no-anchors").is_untrained(6)
    assert Condition(layers="0-4", components="attention").reinitialised(4) == ()
    assert Condition(layers="1-2", freeze="0").reinitialised(4) == ()
    own = {"features": {"use": "features"}, "bilstm": {"start": "bilstm"}, "recipe": {"recipe": "small"}}
    shared = {"reference": {}, "adapted": {"start": "adapted"}, "layers": {"layers": "1"}, "frozen": {"freeze": "0"}}
    assert all(Condition(**keys).own_recipe for keys in own.values())
    assert not any(Condition(**keys).own_recipe for keys in shared.values())
    assert not Condition(freeze="0").trains_all
    assert Condition(layers="1").trains_all
