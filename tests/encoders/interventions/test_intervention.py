"""Settings of interventions as they are written."""

from crosslens.encoders.condition import Condition


def test_spaces_name_no_other_condition():
    assert Condition(layers=" 1 - 2, 4 ") == Condition(layers="1-2,4")
    assert Condition(freeze=" 0") == Condition(freeze="0")
