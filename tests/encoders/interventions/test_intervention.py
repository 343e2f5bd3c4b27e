"""Settings of interventions as they are written."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError


def test_spaces_name_no_other_condition():
    assert Condition(layers=" 1 - 2, 4 ") == Condition(layers="1-2,4")
    assert Condition(freeze=" 0") == Condition(freeze="0")


@pytest.mark.parametrize("alone", [{"lora_layers": "all"}, {"lora_components": "all"}, {"components": "all"}])
def test_a_setting_without_the_required_one_is_no_reference(alone):
    with pytest.raises(RequestError, match="this condition is invalid"):
        Condition.read(alone)
    assert Condition.read({**alone, "lora": 8, "layers": "1"}).label.startswith("1 lora 8")
    assert Condition.read({"layers": None, "components": "all"}) == Condition()
    assert Condition.read({"precision": "float32"}) == Condition()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"lora": {}}, "invalid: lora: expected an integer"),
        ({"lora_layers": "1-2"}, r"invalid: lora: required with lora_layers \(option --lora\)"),
        ({"erase": {}}, "invalid: erase: invalid address"),
        ({"swap": "1"}, "invalid: swap_from: required with swap$"),
    ],
)
def test_errors_name_the_key_that_is_written(written, words):
    with pytest.raises(RequestError, match=words):
        Condition.read(written)
