"""Conditions: what each says of the layers."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.freeze import freeze
from crosslens.encoders.interventions.freeze import Freeze
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.encoders.reinit import random_init
from crosslens.encoders.states.zero import Zero
from crosslens.errors import RequestError


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


TWICE = [{"layers": "1", "components": "attention"}, {"layers": "2", "components": "ffn"}]


@pytest.mark.parametrize("written", [[*TWICE, {"recipe": "small"}], [{**TWICE[0], "recipe": "small"}, TWICE[1]]])
def test_a_list_of_interventions_keeps_its_recipe(written):
    condition = Condition.read(written)
    assert condition.recipe == "small"
    assert condition == Condition.parse(condition.text)
    assert condition.plain == [*TWICE, {"recipe": "small"}]


def test_members_of_a_list_are_written_as_conditions_are():
    assert Condition.read([1, {"freeze": 2}]) == Condition(layers="1", freeze="2")
    with pytest.raises(RequestError, match="several: large, small"):
        Condition.read([{"layers": "1", "recipe": "small"}, {"layers": "2", "recipe": "large"}])
    with pytest.raises(RequestError, match="expected settings"):
        Condition.read([True])


def test_everything_that_is_wrong_is_named_at_once():
    unknown = r"zro: unknown setting; did you mean 'zero'\?"
    part = "components: input should be 'all', .*"
    rank = "lora: expected an integer"
    for written, problems in (
        ({"lora": "x", "layers": "1", "zro": "2", "components": "legs"}, (unknown, part, rank)),
        ([{"zro": "2"}, 1, {"lora": "x"}], (unknown, rank)),
    ):
        with pytest.raises(RequestError, match=f"^this condition is invalid: {'; '.join(problems)}$"):
            Condition.read(written)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            [{"lora": 8, "lora_layers": "1"}, {"lora": 4}],
            "lora: an encoder has only one low-rank update, not lora 8",
        ),
        ([{"start": "adapted"}, {"start": "scratch"}], "start: .*, not adapted and from scratch"),
        ([{"factor": "no-anchors"}, {"factor": "no-shared-layers"}], "factor: an encoder has only one"),
        ([{"checkpoint": 1}, {"checkpoint": 2}], "checkpoint: an encoder has only one"),
        ([{"repeat": 2}, {"subword": "last"}], "subword: an encoder has only one"),
        ({"use": "features", "tower": 1}, "tower: an encoder has only one readout, not features and tower on 1"),
    ],
)
def test_of_what_an_encoder_has_only_one_a_condition_has_no_second(written, words):
    with pytest.raises(RequestError, match=f"invalid: {words}"):
        Condition.read(written)


def test_layers_of_which_parts_are_re_initialised_are_not_untrained():
    assert not Condition(layers="0-4", components="norms").is_untrained(4)
    halves = [{"layers": "0-2"}, {"layers": "3-4"}]
    assert Condition.read(halves).is_untrained(4)
    assert not Condition.read([halves[0], {**halves[1], "components": "attention"}]).is_untrained(4)


def test_columns_name_the_layers_and_components_of_every_intervention():
    for keys, expected in ((TWICE, ("1;2", "attention;ffn")), ([{"freeze": "0"}], ("0", None)), ([], (None, None))):
        columns = Condition.read(keys).columns
        assert (columns["layers"], columns["components"]) == expected


def test_settings_of_reading_leave_every_parameter_to_training():
    assert Condition(repeat=2, precision="bfloat16").trains_all
    assert not Condition(repeat=2, freeze="0").trains_all


def test_what_determines_the_weights_is_what_comes_before_the_end_of_training_and_the_recipe():
    condition = Condition(layers="1", zero="2", recipe="small")
    assert condition.before == Condition(layers="1", recipe="small")
    assert condition.scaled(written_for=4, depth=8) == Condition(layers="1-2", zero="3-4", recipe="small")
    assert condition.at(None) == condition
    assert condition.at(Condition(checkpoint=5).checkpoint).recipe == "small"


def test_an_intervention_is_looked_up_by_a_kind_that_has_no_other():
    condition = Condition.read([*TWICE, {"zero": "2"}])
    assert condition.find(Reinit) is condition.find(Freeze) is None
    assert condition.find(Zero) == condition.interventions[-1]


def test_of_some_stages_the_interventions_are_kept_without_the_recipe():
    condition = Condition(factor="no-anchors", layers="1", zero="2", recipe="small")
    assert condition.up_to("pretraining") == Condition(factor="no-anchors")
    assert condition.up_to("after training") == Condition(zero="2")
    assert condition.up_to("pretraining", "before training") == Condition(factor="no-anchors", layers="1")
    assert condition.up_to("start").is_reference


def test_the_order_in_which_interventions_were_applied_does_not_change_the_condition(encoder):
    conditions = (
        freeze(random_init(encoder, "1"), "0").condition,
        random_init(freeze(encoder, "0"), "1").condition,
        Condition(layers="1", freeze="0"),
    )
    assert len({condition.text for condition in conditions}) == len({each.label for each in conditions}) == 1
