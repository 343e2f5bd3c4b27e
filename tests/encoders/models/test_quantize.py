"""Encoders with weights in eight bits: a quarter of the memory, and the results of the rounded weights in float32."""

import pytest
import torch
from torch import nn

import crosslens as xl
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.adapters import add_lora, save_lora
from crosslens.encoders.models.held_weights import has_int8
from crosslens.encoders.models.int8_weight import Int8Weight
from crosslens.encoders.models.quantize import Quantize
from crosslens.errors import EncoderError, RequestError
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.intervene import intervene
from toy_adapters import states, trained
from toy_architectures import IDS, MASK, SETTINGS, bits, changed, fresh, inside, tagged
from toys import word_piece

INT8 = Quantize(quantize="int8")


@pytest.fixture
def both(encoder, tmp_path):
    """An encoder in eight bits, and the same weights in float32 as a checkpoint of their own."""
    held = load_encoder(encoder.name, quantize="int8", device="cpu")
    save_encoder(held, tmp_path / "dense")
    return held, load_encoder(tmp_path / "dense", device="cpu")


def held_names(encoder):
    return {name for name, parameter in encoder.model.named_parameters() if isinstance(parameter, Int8Weight)}


def assert_same_states(ours, right):
    for layer, (one, other) in enumerate(zip(states(ours), states(right), strict=True)):
        assert torch.equal(one, other), layer


@pytest.mark.parametrize("name", sorted(set(SETTINGS) - {"bilstm"}))
def test_every_family_computes_with_the_rounded_weights(name, tmp_path):
    tokenizer = word_piece()
    model = fresh(name, 0, tokenizer)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():  # some architectures begin with zeros
            parameter += torch.randn(parameter.shape, generator=generator) / 20
    save_encoder(xl.Encoder(model, tokenizer, FAMILIES[name], name), tmp_path / "made")
    encoder = load_encoder(tmp_path / "made", device="cpu")
    held = INT8.apply(encoder, seed=0)
    save_encoder(held, tmp_path / "dense")
    dense = load_encoder(tmp_path / "dense", device="cpu")
    assert_same_states(held, dense)
    assert held.digest == dense.digest != encoder.digest
    assert held.loaded_digest == encoder.digest
    linear = {f"{n}.weight" for n, module in held.model.named_modules() if isinstance(module, nn.Linear)}
    assert held_names(held) == set(held.changes[-1].tensors) <= linear & inside(held, *range(1, held.depth + 1))
    with torch.no_grad():
        moved = [(one - other).abs().max() for one, other in zip(states(held), states(encoder), strict=True)]
    assert moved[0] == 0  # the embeddings
    assert 0 < moved[-1] < 0.2


def test_layers_without_linear_modules_are_refused():
    encoder = xl.Encoder(fresh("bilstm", 0, word_piece()), word_piece(), FAMILIES["bilstm"], "bilstm")
    with pytest.raises(EncoderError, match="the layers of bilstm have no linear modules"):
        INT8.apply(encoder, seed=0)


def test_the_layers_take_a_quarter_of_the_memory(encoder, both):
    size = {
        each: sum(parameter.nbytes for name, parameter in each.model.named_parameters() if name in held_names(both[0]))
        for each in (encoder, both[0])
    }
    assert 0.25 < size[both[0]] / size[encoder] < 0.4  # rows of the toy are short
    table = "embeddings.word_embeddings.weight"
    assert torch.equal(both[0].model.get_parameter(table), encoder.model.get_parameter(table))


def test_loaded_in_eight_bits_or_rounded_later_it_is_the_same(encoder, both):
    later = INT8.apply(encoder, seed=0)
    assert later.digest == both[0].digest
    assert later.condition == both[0].condition == Condition(quantize="int8")
    assert repr(later).splitlines()[-1] == "  quantize=int8"
    assert not has_int8(encoder.model)
    assert INT8.apply(later, seed=0) is later


def test_in_bfloat16_it_computes_the_same_bits_too(both):
    held, dense = (InPrecision(precision="bfloat16").apply(each, seed=0) for each in both)
    assert_same_states(held, dense)
    assert has_int8(xl.read_as(held, precision="float32").model)


@pytest.mark.parametrize(
    "change",
    [
        lambda encoder: xl.freeze(encoder, "all"),
        lambda encoder: xl.freeze(encoder, "0-2"),
        lambda encoder: xl.freeze(xl.random_init(encoder, "1", seed=1), "0-3"),
        lambda encoder: xl.as_features(encoder, seed=1),
    ],
)
def test_training_over_frozen_layers_gives_the_same_model(both, change):
    held, dense = (trained(change(each)) for each in both)
    assert held.facts["weights"] == dense.facts["weights"]
    assert held.facts["run"] != dense.facts["run"]  # another encoder, and a condition of its own
    frozen = {name for name, parameter in held.encoder.model.named_parameters() if not parameter.requires_grad}
    assert held_names(held.encoder) <= frozen
    assert held_names(held.encoder)


def test_training_all_of_it_is_refused_before_it_is_copied(both, monkeypatch):
    monkeypatch.setattr(
        "crosslens.training.finetune.copy_to_train", None
    )  # a copy in float32 may be more than the device holds
    with pytest.raises(RequestError, match="all weights in eight bits would be trained") as raised:
        trained(both[0])
    assert "--lora" in str(raised.value.hint)


def test_low_rank_updates_train_alike_and_predict_alike(peft, both, tmp_path):
    held, dense = (trained(add_lora(each, 4, alpha=8.0)) for each in both)
    assert held.facts["last_loss"] == dense.facts["last_loss"]
    assert held_names(held.encoder) == held_names(both[0])
    for ours, right in zip(states(held.encoder), states(dense.encoder), strict=True):
        torch.testing.assert_close(ours, right)
    scores = [evaluate(model, tagged()).records.column("value").to_pylist() for model in (held, dense)]
    assert scores[0] == scores[1]
    save_model(held, tmp_path / "model")
    again = load_model(tmp_path / "model", device="cpu")
    assert_same_states(again.encoder, held.encoder)
    assert again.encoder.condition == held.encoder.condition
    assert not has_int8(again.encoder.model)


def test_an_update_is_written_as_peft_reads_it(peft, both, tmp_path):
    held, dense = both
    tagger = trained(add_lora(held, 4))
    save_lora(tagger.encoder, tmp_path / "lora")
    adapted = peft.PeftModel.from_pretrained(dense.model, tmp_path / "lora").eval()
    with torch.no_grad():
        right = adapted(input_ids=IDS, attention_mask=MASK).last_hidden_state
        torch.testing.assert_close(tagger.encoder.states(IDS, MASK), right, atol=1e-5, rtol=1e-5)


def test_training_does_not_change_the_loaded_encoder(peft, both):
    before = both[0].digest
    trained(add_lora(both[0], 4))
    assert xl.Encoder(both[0].model, both[0].tokenizer, both[0].family, "again").digest == before


def test_initialised_layers_are_float32_and_the_others_stay(encoder, both):
    ours, plain = xl.random_init(both[0], "2", seed=1), xl.random_init(encoder, "2", seed=1)
    assert held_names(ours) == held_names(both[0]) - inside(both[0], 2)
    layers = [
        {name: values for name, values in bits(each).items() if name in inside(each, 2)} for each in (ours, plain)
    ]
    assert all(torch.equal(layers[0][name], layers[1][name]) for name in layers[1])
    assert has_int8(both[0].model)
    untrained = [xl.random_init(each, "0,all", seed=1) for each in (both[0], encoder)]
    assert untrained[0].digest == untrained[1].digest


def test_layers_of_another_encoder_come_with_all_their_digits(both, encoder):
    tagger = trained(xl.freeze(both[0], "0,all"))
    reverted = intervene(tagger, "1:revert", pretrained=encoder.name)
    assert held_names(reverted.encoder) == held_names(both[0]) - inside(both[0], 1)
    before, after, pretrained = (bits(each) for each in (both[0], reverted.encoder, encoder))
    assert changed(before, after) == inside(both[0], 1) & held_names(both[0])
    assert not changed(pretrained, after) & inside(encoder, 1)


def test_a_condition_is_compared_with_the_reference_whose_weights_are_not_rounded():
    condition = Condition(quantize="int8", lora=8)
    assert condition.reference == Condition()
    assert condition.difference == condition
    assert condition.label == "reference quantize=int8 lora 8"
    assert not Condition(quantize="int8").trains_all


def test_other_number_formats_are_refused(encoder):
    with pytest.raises(RequestError, match="quantize: input should be 'int8'"):
        load_encoder(encoder.name, quantize="int4", device="cpu")


def test_layer_outputs_have_gradients(both):
    outputs = [layer_outputs(each, IDS, MASK) for each in both]
    gradients = [torch.autograd.grad(each[-1].sum(), each[0])[0] for each in outputs]
    assert torch.equal(*gradients)
