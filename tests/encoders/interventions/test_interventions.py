"""The contract of every intervention, built in or not: applied to a loaded encoder, written, read, recorded, scaled."""

import itertools
import json

import pytest
import torch
from pydantic import ValidationError

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions import INTERVENTIONS
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.models.lora import Lora
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features
from crosslens.errors import RequestError
from crosslens.results.record import Record, Results
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.identity import run_id, training_identity
from crosslens.training.recipe import find_recipe

EXAMPLES = {
    "factor": [{"factor": "no-anchors"}, {"factor": "mine"}],
    "start": [{"start": "adapted"}, {"start": "scratch"}, {"start": "bilstm"}],
    "reinit": [
        {"layers": "1-2"},
        {"layers": 1},
        {"layers": "all"},
        {"layers": "0,all"},
        {"layers": "1-2", "components": "attention"},
        {"layers": "2", "init": "torch"},
    ],
    "freeze": [{"freeze": "0-3"}, {"freeze": 0}],
    "features": [{"use": "features"}, {"use": "features", "hidden": 8}],
    "tower": [{"tower": 2}, {"tower": 0, "height": 1}],
    "lora": [{"lora": 2}, {"lora": 4, "lora_layers": "1-2", "lora_components": "ffn", "lora_alpha": 8}],
    "checkpoint": [{"checkpoint": 500}, {"checkpoint": "step1000-tokens4B"}],
    "reading": [{"repeat": 2}, {"subword": "last"}, {"repeat": 3, "subword": "last"}],
    "precision": [{"precision": "bfloat16"}],
    "quantize": [{"quantize": "int8"}],
    "scale": [{"scale": "1-2"}, {"scale": "all", "by": 2.0}],
}
"""Kind -> ways to ask for it, as study files write them."""


TRAINED_WITH = {"quantize": {"freeze": "0-2"}}
"""Kind -> what training with it needs, too."""


AFTER_TRAINING = {
    "revert": [{"revert": "1-2"}, {"revert": 0}],
    "swap": [{"swap": "1-2", "swap_from": "runs/adapted"}],
    "add": [{"add": "1-2", "add_from": "runs/adapted"}, {"add": 0, "add_from": "runs/adapted", "add_scale": 0.5}],
    "zero": [{"zero": "1-2"}, {"zero": 1}, {"zero": "2.attention.head.0"}],
    "mean": [{"mean": "1-2"}, {"mean": "1.ffn"}],
    "resample": [{"resample": "1-2"}, {"resample": "1-2", "resample_seed": 2}],
    "noise": [{"noise": "1.output", "noise_dose": 0.5}, {"noise": "1.output", "noise_dose": 0.5, "noise_seed": 2}],
    "rotate": [{"rotate": "1.output", "degrees": 30}, {"rotate": "1.output", "degrees": 30, "rotate_seed": 2}],
    "erase": [
        {"erase": "1.output"},
        {"erase": "1", "erase_to": "ud/en_pud", "erase_control": "random"},
        {"erase": "1", "erase_control": "random", "erase_seed": 2},
    ],
    "patch": [{"patch": "1.output"}, {"patch": "1", "patch_from": "ud/en_pud", "patch_by": "sentences"}],
}
"""The same of interventions on trained models; their laws are in tests/encoders/states and test_swap.py."""


MADE_BEFORE = ("pretraining", "start")
"""Stages whose interventions a study's own runs do: applied, they are noted and change nothing."""


pytestmark = pytest.mark.usefixtures("plugins")
ALL = [pytest.param(kind, keys, id=f"{kind} {keys}") for kind, ways in EXAMPLES.items() for keys in ways]
AFTER = [pytest.param(kind, keys, id=f"{kind} {keys}") for kind, ways in AFTER_TRAINING.items() for keys in ways]


def test_every_intervention_has_examples(plugins):
    assert set(EXAMPLES) | set(AFTER_TRAINING) == set(INTERVENTIONS)
    assert {kind for kind, each in INTERVENTIONS.items() if each.stage == "after training"} == set(AFTER_TRAINING)


def applied(encoder, condition, seed=1):
    if condition.find(Lora):
        pytest.importorskip("peft", reason="needs PEFT: pip install 'crosslens[lora]'")
    for intervention in condition.interventions:
        encoder = intervention.apply(encoder, seed=seed)
    return encoder


def weights(encoder):
    return {name: parameter.detach().clone() for name, parameter in encoder.model.named_parameters()}


@pytest.mark.parametrize(("kind", "keys"), ALL + AFTER)
def test_written_and_read_it_is_the_same(kind, keys):
    condition = Condition(**keys)
    (intervention,) = condition.interventions
    assert intervention.kind == kind
    assert Condition.parse(condition.text) == condition == Condition.model_validate(condition.plain)
    assert Condition.model_validate(json.loads(json.dumps(condition.model_dump(mode="json")))) == condition
    assert hash(Condition.parse(condition.text)) == hash(condition)
    with pytest.raises(ValidationError):
        intervention.kept = 1
    assert not condition.is_reference


def test_labels_are_different():
    every = {**EXAMPLES, **AFTER_TRAINING}
    conditions = [Condition(), *(Condition(**keys) for ways in every.values() for keys in ways)]
    conditions += [
        Condition(**a, **b)
        for first, second in itertools.combinations(every, 2)
        if INTERVENTIONS[first].once is None or INTERVENTIONS[first].once != INTERVENTIONS[second].once
        for a, b in itertools.product(every[first], every[second])
    ]
    conditions += [condition.model_copy(update={"recipe": "small"}) for condition in conditions]
    assert len({condition.text for condition in conditions}) == len(set(conditions)) > 300
    assert len({condition.label for condition in conditions}) == len(set(conditions))


@pytest.mark.parametrize(("kind", "keys"), ALL)
def test_applied_it_changes_what_it_names_and_nothing_else(kind, keys, encoder):
    condition = Condition(**keys)
    before = weights(encoder)
    once, again, other = (applied(encoder, condition, seed) for seed in (1, 1, 2))
    assert all(torch.equal(before[name], value) for name, value in weights(encoder).items())  # a copy was changed
    (change,) = once.changes
    assert isinstance(change, Change)
    moved = {name for name, value in weights(once).items() if not torch.equal(value, before[name])}
    assert moved <= set(change.tensors)
    if condition.interventions[0].stage in MADE_BEFORE:
        assert once.digest == encoder.digest
    if kind in ("reinit", "scale"):
        assert moved
        inside = {
            name
            for layer in parse_layers(change.intervention.acts_on, encoder.depth)
            if layer
            for name, parameter in encoder.model.named_parameters()
            if any(parameter is own for own in encoder.layers[layer - 1].parameters())
        }
        assert inside or not set(change.tensors) - inside
    assert once.digest == again.digest
    assert (once.digest != other.digest) == (change.seed is not None)
    assert once.loaded_digest == encoder.digest
    assert once.condition.scaled(written_for=None, depth=encoder.depth) == condition.scaled(
        written_for=None, depth=encoder.depth
    )


@pytest.mark.parametrize(("kind", "keys"), ALL)
def test_a_record_and_a_saved_model_know_it(kind, keys, encoder, toy, tmp_path):
    condition = Condition(**keys, **TRAINED_WITH.get(kind, {}))
    ablated = applied(encoder, condition)
    recipe = find_recipe("small", "pos", {"batch": 6, "epochs": 1})
    model = finetune(ablated, "pos", train=toy("train"), recipe=recipe)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model", device="cpu")
    assert loaded.encoder.changes == model.encoder.changes
    assert loaded.encoder.loaded_digest == encoder.digest
    (record, *_), (again, *_) = (evaluate(each, [toy("test")]).records.to_pylist() for each in (model, loaded))
    assert record == again
    assert Condition.parse(record["condition"]) == ablated.condition
    assert record["encoder_digest"] == encoder.digest
    assert record["run"] == model.facts["run"]
    Results.of([Record(**ablated.condition.columns)]).write(tmp_path / "r.parquet")


def test_each_is_another_training(encoder, toy):
    from crosslens.tasks import find_task

    def identity(condition):
        return run_id(
            training_identity(
                encoder="e",
                condition=condition,
                seed=1,
                task=find_task("pos"),
                recipe=find_recipe("small", "pos"),
                train="t",
                dev=None,
            )
        )

    every = {**EXAMPLES, **AFTER_TRAINING}
    conditions = [Condition(), *(Condition(**keys) for ways in every.values() for keys in ways)]
    assert len({identity(condition) for condition in conditions}) == len(conditions)
    assert identity(Condition(recipe="small")) == identity(Condition())


@pytest.mark.parametrize(("kind", "keys"), ALL)
@pytest.mark.parametrize("depth", [4, 6, 24])
def test_scaled_to_another_depth_it_names_layers_of_that(kind, keys, depth):
    condition = Condition(**keys)
    scaled = condition.scaled(written_for=12, depth=depth)
    assert scaled.scaled(written_for=depth, depth=depth) == scaled
    assert [each.kind for each in scaled.interventions] == [kind]
    for intervention in scaled.interventions:
        if intervention.acts_on and kind != "tower":
            assert parse_layers(intervention.acts_on, depth)


@pytest.mark.parametrize("hidden", [0, -2])
def test_an_lstm_without_states_is_refused_and_not_read_as_one_of_the_default_size(encoder, hidden):
    with pytest.raises(RequestError, match="hidden"):
        as_features(encoder, seed=1, hidden=hidden)
    with pytest.raises(RequestError, match="hidden"):
        Condition.read({"use": "features", "hidden": hidden})
