"""Low-rank updates: laws of their training, and all families."""

import sys

import pytest
import torch

from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder
from crosslens.encoders.models.adapters import add_lora, begin_update, end_update
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features
from crosslens.errors import EncoderError, RequestError
from toy_adapters import states, trained
from toy_architectures import IDS, MASK, bits, changed, inside


def test_without_peft_the_error_names_what_installs_it(encoder, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(RequestError, match="LoRA needs PEFT") as error:
        add_lora(encoder, 2)
    assert error.value.hint == "pip install 'crosslens[lora]'"


def test_in_every_family_it_begins_with_no_change_and_leaves_the_model_as_it_was(peft, loaded, kind):
    if kind == "bilstm":
        with pytest.raises(EncoderError, match="no linear modules"):
            add_lora(loaded, 2)
        return
    updated = add_lora(loaded, 2, layers="2-3")
    before, expected = bits(updated), states(updated)
    begin_update(updated, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(states(updated), expected, strict=True))  # B is 0
    learnt = {name for name, p in updated.model.named_parameters() if p.requires_grad}
    assert learnt
    assert all(".lora_" in name for name in learnt)
    end_update(updated)
    assert changed(before, bits(updated)) == set()
    assert set(before) == {name for name, _ in updated.model.named_parameters()}


def test_trained_only_the_chosen_matrices_change_and_each_by_that_rank(peft, encoder):
    before = bits(encoder)
    after = bits(trained(add_lora(encoder, 2, layers="3-4", components="attention")).encoder)
    moved = changed(before, after)
    assert moved
    assert moved <= inside(encoder, 3, 4)
    assert {name.split(".")[3] for name in moved} == {"attention"}
    for name in moved:
        values = torch.linalg.svdvals((after[name] - before[name]).double())
        assert values[1] > 1e-2 * values[0]
        assert values[2] < 1e-4 * values[0]
    assert bits(encoder).keys() == after.keys()


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(peft, encoder):
    assert trained(add_lora(encoder, 2)).facts["weights"] == trained(add_lora(encoder, 2)).facts["weights"]

    def first_matrix(seed):
        updated = add_lora(load_encoder(encoder.name, device="cpu"), 2)
        begin_update(updated, seed=seed)
        return next(value.detach() for name, value in updated.model.named_parameters() if ".lora_A" in name)

    assert torch.equal(first_matrix(1), first_matrix(1))
    assert not torch.equal(first_matrix(1), first_matrix(2))


def test_of_full_rank_with_orthonormal_rows_its_first_gradient_is_that_of_the_weights(peft, encoder):
    whole, copied = (load_encoder(encoder.name, device="cpu") for _ in range(2))
    name = "encoder.layer.0.attention.self.query"
    updated = add_lora(copied, 32, layers="1", components="attention")
    begin_update(updated, seed=1)
    module = updated.model.get_submodule(name)
    orthonormal, _ = torch.linalg.qr(torch.randn(32, 32, generator=torch.Generator().manual_seed(1)))
    module.lora_A["default"].weight.data.copy_(orthonormal)
    weights = torch.randn(2, 5, 32, generator=torch.Generator().manual_seed(2))
    for model in (updated.model, whole.model):
        (model(input_ids=IDS, attention_mask=MASK).last_hidden_state * weights).sum().backward()
    step = module.lora_B["default"].weight.grad @ orthonormal
    full = whole.model.get_submodule(name).weight.grad
    assert full.abs().max() > 1e-3
    torch.testing.assert_close(step, full, rtol=1e-4, atol=1e-5)


def test_frozen_layers_have_no_update(peft, encoder):
    before = bits(encoder)
    after = bits(trained(add_lora(freeze(encoder, "0-3"), 2)).encoder)
    assert changed(before, after) <= inside(encoder, 4)
    with pytest.raises(EncoderError, match="no linear modules that are trained"):
        add_lora(freeze(encoder, "0-4"), 2)
    with pytest.raises(EncoderError, match=r"the embeddings \(layer 0\) have no linear modules"):
        add_lora(encoder, 2, layers=0)
    with pytest.raises(RequestError, match="greater than or equal to 1"):
        add_lora(encoder, 0)


def test_a_second_update_is_refused(peft, encoder):
    with pytest.raises(EncoderError, match="has lora 2 of 1 already"):
        add_lora(add_lora(encoder, 2, layers=1), 3, layers=2)


@pytest.mark.parametrize("freezing", [lambda encoder: freeze(encoder, "all"), lambda e: as_features(e, seed=1)])
def test_layers_that_are_frozen_later_cannot_be_trained_either(peft, encoder, freezing):
    with pytest.raises(EncoderError, match="no linear modules that are trained"):
        trained(freezing(add_lora(encoder, 2)))


def test_the_encoder_is_in_memory_once_and_stays_as_it_is(peft, encoder):
    """Parameters without an update share the memory of the encoder that was passed."""
    updated = add_lora(encoder, 2, layers="3-4", components="attention")
    before = {name: value.clone() for name, value in bits(updated).items()}
    after = trained(updated).encoder
    there = {parameter.data_ptr() for parameter in encoder.model.parameters()}
    apart = {name for name, parameter in after.model.named_parameters() if parameter.data_ptr() not in there}
    assert apart == changed(before, bits(after)) != set()
    assert changed(before, bits(updated)) == set()
