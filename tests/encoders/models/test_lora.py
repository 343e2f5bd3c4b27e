"""Low-rank updates: laws of their training over all families, and exchange with PEFT in both directions."""

import sys

import pytest
import torch
from transformers import AutoModel, AutoModelForTokenClassification

from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.lora import add_lora, begin_update, end_update, save_lora
from crosslens.encoders.reinit import random_init
from crosslens.errors import EncoderError, RequestError
from crosslens.similarity.compare import compare
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.finetune import finetune
from crosslens.training.predict import predict
from crosslens.training.recipe import Recipe
from toy_architectures import IDS, MASK, bits, changed, inside, tagged

RECIPE = Recipe(batch=2, epochs=3, learning_rate=1e-2, select="last", encoder_dropout="off")


def test_without_peft_the_error_names_what_installs_it(encoder, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(RequestError, match="LoRA needs PEFT") as error:
        add_lora(encoder, 2)
    assert error.value.hint == "pip install 'crosslens[lora]'"


@pytest.fixture
def peft():
    return pytest.importorskip("peft", reason="needs PEFT: pip install 'crosslens[lora]'")


def states(encoder):
    with torch.inference_mode():
        return layer_outputs(encoder, IDS, MASK)


def trained(encoder, seed=1):
    return finetune(encoder, "pos", train=tagged(), recipe=RECIPE, seed=seed)


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


def test_merged_and_unmerged_are_the_same_and_peft_reads_what_was_saved(peft, encoder, tmp_path):
    tagger = trained(add_lora(encoder, 4, alpha=8.0))
    save_lora(tagger.encoder, tmp_path / "lora")
    assert {"adapter_config.json", "adapter_model.safetensors"} <= {file.name for file in (tmp_path / "lora").iterdir()}
    with torch.random.fork_rng(devices=[]):
        base = AutoModel.from_pretrained(encoder.name, add_pooling_layer=False).double().eval()
    unmerged = peft.PeftModel.from_pretrained(base, tmp_path / "lora").double().eval()
    assert unmerged.peft_config["default"].r == 4
    with torch.inference_mode():
        theirs = unmerged(input_ids=IDS, attention_mask=MASK).last_hidden_state
        ours = tagger.encoder.model.double()(input_ids=IDS, attention_mask=MASK).last_hidden_state
    tagger.encoder.model.float()
    torch.testing.assert_close(theirs, ours, rtol=0, atol=1e-6)
    again = load_encoder(tmp_path / "lora", device="cpu")
    for name, value in bits(tagger.encoder).items():
        torch.testing.assert_close(again.model.get_parameter(name).data, value, rtol=0, atol=1e-6)
    with pytest.raises(RequestError, match="exists already"):
        save_lora(tagger.encoder, tmp_path / "lora")


def made_with_peft(peft, encoder, folder, *, head):
    """A LoRA that PEFT made, with random values, and the model with it."""
    loader = AutoModelForTokenClassification if head else AutoModel
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = loader.from_pretrained(encoder.name)
        task = {"task_type": "TOKEN_CLS"} if head else {}
        config = peft.LoraConfig(r=2, target_modules=["query", "value"], init_lora_weights=False, **task)
        adapted = peft.get_peft_model(model, config).eval()
        adapted.save_pretrained(folder)
    return adapted


@pytest.mark.parametrize("head", [False, True])
def test_an_update_of_pefts_is_loaded_and_evaluated_here(peft, encoder, head, tmp_path, treebanks):
    adapted = made_with_peft(peft, encoder, tmp_path / "theirs", head=head)
    ours = load_encoder(tmp_path / "theirs", device="cpu")
    assert ours.digest != encoder.digest
    with torch.inference_mode():
        theirs = adapted(input_ids=IDS, attention_mask=MASK, output_hidden_states=True).hidden_states
    torch.testing.assert_close(states(ours)[-1], theirs[-1], rtol=0, atol=1e-5)
    assert not torch.allclose(states(ours)[-1], states(encoder)[-1], atol=1e-3)
    results = compare(ours, "ud/pud", pairs=["en-fr"], data=treebanks)
    assert {record.encoder for record in results} == {str(tmp_path / "theirs")}
    assert trained(ours).facts["encoder_digest"] == ours.digest
    save_encoder(ours, tmp_path / "merged")
    assert load_encoder(tmp_path / "merged", device="cpu").digest == ours.digest


def test_an_update_for_another_encoder_is_refused(peft, encoder, shallow, tmp_path):
    made_with_peft(peft, encoder, tmp_path / "theirs", head=False)
    text = (tmp_path / "theirs" / "adapter_config.json").read_text("utf-8")
    (tmp_path / "theirs" / "adapter_config.json").write_text(text.replace(encoder.name, shallow.name))
    with pytest.raises(EncoderError, match=r"adapter|does not fit"):
        load_encoder(tmp_path / "theirs", device="cpu")


def test_a_model_is_saved_as_any_other_and_its_condition_is_recorded(peft, encoder, tmp_path):
    tagger = trained(add_lora(encoder, 2, layers="1-2"))
    assert tagger.encoder.condition.label == "reference lora 2 of 1-2"
    save_model(tagger, tmp_path / "model")
    loaded = load_model(tmp_path / "model", device="cpu")
    assert loaded.encoder.condition == tagger.encoder.condition
    assert predict(loaded, tagged()).items == predict(tagger, tagged()).items
    save_lora(loaded.encoder, tmp_path / "lora")  # from the folder too
    assert load_encoder(tmp_path / "lora", device="cpu").digest


def test_what_is_no_low_rank_update_is_not_saved_as_one(peft, encoder, tmp_path):
    with pytest.raises(RequestError, match="was not fine-tuned with a low-rank update"):
        save_lora(encoder, tmp_path / "lora")
    both = trained(add_lora(random_init(encoder, "1", seed=1), 2, layers="2"))
    with pytest.raises(RequestError, match="changed too, outside of the low-rank update"):
        save_lora(both.encoder, tmp_path / "lora")
    other = random_init(encoder, "1", seed=1)
    with pytest.raises(EncoderError, match="is not the encoder that training began with"):
        save_lora(trained(add_lora(encoder, 2)).encoder, tmp_path / "lora", pretrained=other)


def test_frozen_layers_have_no_update(peft, encoder):
    before = bits(encoder)
    after = bits(trained(add_lora(freeze(encoder, "0-3"), 2)).encoder)
    assert changed(before, after) <= inside(encoder, 4)
    with pytest.raises(EncoderError, match="no linear modules that are trained"):
        add_lora(freeze(encoder, "0-4"), 2)
    with pytest.raises(EncoderError, match="no linear modules that are trained"):
        add_lora(encoder, 2, layers=0)
    with pytest.raises(RequestError, match="greater than or equal to 1"):
        add_lora(encoder, 0)
