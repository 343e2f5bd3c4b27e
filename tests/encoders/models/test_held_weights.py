"""Weights held in bfloat16: half the memory, and every result has the bits that it has with weights in float32."""

import dataclasses

import pytest
import torch
from torch import nn

import crosslens as xl
from crosslens.encoders import matmul
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.adapters import add_lora, copy_to_train, save_lora
from crosslens.encoders.models.held_weights import (
    held_in_float32,
    hold_in_bfloat16,
    hold_in_float32,
    hold_in_int8,
)
from crosslens.errors import EncoderError
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.intervene import intervene
from toy_adapters import trained
from toy_architectures import IDS, MASK, SETTINGS, bits, fresh, tagged
from toys import word_piece


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    """A processor that computes bfloat16 fast, whatever this one is."""
    monkeypatch.setattr(matmul, "_processor_features", lambda: frozenset({"amx_bf16"}))


def rounded(encoder, folder):
    """Save an encoder whose weights bfloat16 represents, as decoders are published; and its folder."""
    with torch.no_grad():
        for parameter in encoder.model.parameters():
            parameter.copy_(parameter.bfloat16())
    save_encoder(encoder, folder)
    return folder


@pytest.fixture
def both(encoder, tmp_path):
    """The same checkpoint with weights in float32, and held in bfloat16."""
    folder = rounded(dataclasses.replace(encoder, model=fresh("bert", 0, encoder.tokenizer)), tmp_path / "rounded")
    plain = xl.read_as(load_encoder(folder, device="cpu"), precision="bfloat16")
    return plain, load_encoder(folder, precision="bfloat16", device="cpu")


def held(encoder):
    return {name for name, parameter in encoder.model.named_parameters() if parameter.dtype == torch.bfloat16}


def linear(encoder):
    return {f"{name}.weight" for name, module in encoder.model.named_modules() if isinstance(module, nn.Linear)}


def size(encoder):
    return sum(parameter.nbytes for parameter in encoder.model.parameters())


def test_deberta_is_refused():
    tokenizer = word_piece()
    encoder = xl.Encoder(fresh("deberta", 0, tokenizer), tokenizer, FAMILIES["deberta"], "deberta")
    with pytest.raises(EncoderError, match="cannot compute deberta in bfloat16"):
        xl.read_as(encoder, precision="bfloat16")


@pytest.mark.parametrize("name", sorted(set(SETTINGS) - {"deberta"}))
def test_every_family_computes_the_same_bits(name, tmp_path):
    tokenizer = word_piece()
    family = FAMILIES[name]
    encoder = xl.Encoder(fresh(name, 0, tokenizer), tokenizer, family, name)
    folder = rounded(encoder, tmp_path / "rounded")
    plain = xl.read_as(load_encoder(folder, device="cpu"), precision="bfloat16")
    small = load_encoder(folder, precision="bfloat16", device="cpu")
    assert small.digest == plain.digest
    assert small.condition == plain.condition
    assert held(small) <= linear(small)
    assert not held(plain)
    if held(small):
        assert size(small) < size(plain)
    with torch.no_grad():
        for ours, right in zip(layer_outputs(small, IDS, MASK), layer_outputs(plain, IDS, MASK), strict=True):
            assert torch.equal(ours.float(), right.float())


def test_only_weights_that_do_not_change_are_held(encoder, both):
    plain, small = both
    assert held(small) == linear(small) != set()
    assert size(small) < size(plain)
    unrounded = load_encoder(encoder.name, precision="bfloat16", device="cpu")
    assert not held(unrounded)
    assert unrounded.digest == encoder.digest


def test_tied_embeddings_stay_float32():
    model = nn.ModuleDict({"table": nn.Embedding(4, 3), "head": nn.Linear(3, 4, bias=False), "free": nn.Linear(3, 3)})
    with torch.no_grad():
        model["head"].weight = model["table"].weight
        for parameter in model.parameters():
            parameter.copy_(parameter.bfloat16())
    hold_in_bfloat16(model)
    assert {name: parameter.dtype for name, parameter in model.named_parameters()} == {
        "table.weight": torch.float32,
        "free.weight": torch.bfloat16,
        "free.bias": torch.float32,
    }


def test_in_float32_again_it_is_the_loaded_encoder(both):
    _, small = both
    exact = xl.read_as(small, precision="float32")
    assert not held(exact)
    assert held(small)
    again = load_encoder(small.name, device="cpu")
    with torch.no_grad():
        assert torch.equal(exact.states(IDS, MASK), again.states(IDS, MASK))
    table = "embeddings.word_embeddings.weight"
    assert exact.model.get_parameter(table).data_ptr() == small.model.get_parameter(table).data_ptr()
    assert held_in_float32(again.model) is again.model


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("hold", [lambda model: hold_in_int8([model], model), hold_in_bfloat16])
def test_what_is_not_trained_is_not_trained_in_float32_either(hold, trained):
    model = nn.Linear(3, 3)
    with torch.no_grad():
        model.weight.copy_(model.weight.bfloat16())
    model.weight.requires_grad_(trained)
    hold(model)
    assert model.weight.requires_grad is trained
    hold_in_float32(model.parameters())
    assert type(model.weight) is nn.Parameter
    assert (model.weight.dtype, model.weight.requires_grad) == (torch.float32, trained)


@pytest.mark.parametrize(
    "change",
    [
        lambda encoder: encoder,
        lambda encoder: xl.freeze(encoder, "0-2"),
        lambda encoder: xl.freeze(encoder, "all"),
        lambda encoder: xl.random_init(encoder, "1-2", seed=1),
        lambda encoder: xl.freeze(xl.random_init(encoder, "1", seed=1), "0-1"),
        lambda encoder: xl.as_features(encoder, seed=1),
    ],
)
def test_fine_tuning_gives_the_same_model(both, change):
    models = [trained(change(each)) for each in both]
    first, second = (bits(model.encoder) for model in models)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name].float(), second[name].float()) for name in first)
    assert models[0].facts["weights"] == models[1].facts["weights"]
    assert models[0].facts["run"] == models[1].facts["run"]
    trainable = {name for name, p in models[1].encoder.model.named_parameters() if p.requires_grad}
    assert not trainable & held(models[1].encoder)


def test_low_rank_updates_train_alike_and_predict_alike(peft, both, tmp_path):
    plain, small = (trained(add_lora(each, 4)) for each in both)
    assert plain.facts["last_loss"] == small.facts["last_loss"]
    assert held(small.encoder) == linear(small.encoder)
    scores = [evaluate(model, tagged()).records.drop(["tags"]).to_pylist() for model in (plain, small)]
    assert scores[0] == scores[1]
    with torch.no_grad():
        assert torch.equal(plain.encoder.states(IDS, MASK), small.encoder.states(IDS, MASK))
    save_model(small, tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert held(again.encoder) == held(small.encoder)
    with torch.no_grad():
        assert torch.equal(again.encoder.states(IDS, MASK), plain.encoder.states(IDS, MASK))
    save_lora(small.encoder, tmp_path / "lora")
    assert load_encoder(tmp_path / "lora", precision="bfloat16", device="cpu").precision == "bfloat16"


def test_training_copies_no_frozen_weight(both):
    _, small = both
    frozen = xl.freeze(small, "all")
    copied = copy_to_train(frozen)
    assert held(copied) == linear(copied)
    places = [{name: each.model.get_parameter(name).data_ptr() for name in linear(each)} for each in (copied, frozen)]
    assert places[0] == places[1]


def test_layers_of_another_encoder_come_with_all_their_digits(both, encoder, tmp_path):
    _, small = both
    tagger = trained(small)
    save_encoder(xl.random_init(load_encoder(small.name, device="cpu"), "all", seed=3), tmp_path / "other")
    swapped = intervene(tagger, f"1-2:swap={tmp_path / 'other'}")
    theirs = load_encoder(tmp_path / "other", device="cpu").model
    name = "encoder.layer.0.output.dense.weight"
    assert torch.equal(swapped.encoder.model.get_parameter(name), theirs.get_parameter(name))
    reverted = intervene(trained(xl.freeze(small, "all")), "1:revert")
    assert torch.equal(reverted.encoder.model.get_parameter(name).float(), small.model.get_parameter(name).float())
