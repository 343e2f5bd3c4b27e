"""Low-rank updates that PEFT reads and writes."""

import json
import subprocess
import sys
from contextlib import nullcontext

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForTokenClassification

from crosslens.encoders.load import check_encoder, load_encoder, load_masked_lm, save_encoder
from crosslens.encoders.models.adapters import add_lora, save_lora
from crosslens.encoders.reinit import random_init
from crosslens.errors import EncoderError, RequestError
from crosslens.similarity.compare import compare
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.predict import predict
from toy_adapters import states, trained
from toy_architectures import IDS, MASK, bits, tagged


def test_the_public_names_can_be_the_first_ones_that_are_used():
    code = "import crosslens as xl; xl.save_lora, xl.add_lora"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True).stderr == ""


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
    assert all(parameter.requires_grad for parameter in ours.model.parameters())
    with torch.inference_mode():
        theirs = adapted(input_ids=IDS, attention_mask=MASK, output_hidden_states=True).hidden_states
    torch.testing.assert_close(states(ours)[-1], theirs[-1], rtol=0, atol=1e-5)
    assert not torch.allclose(states(ours)[-1], states(encoder)[-1], atol=1e-3)
    results = compare(ours, "ud/pud", pairs=["en-fr"], data=treebanks)
    assert {record.encoder for record in results} == {str(tmp_path / "theirs")}
    assert trained(ours).facts["encoder_digest"] == ours.digest
    save_encoder(ours, tmp_path / "merged")
    assert load_encoder(tmp_path / "merged", device="cpu").digest == ours.digest


def test_the_masked_language_model_of_an_updated_encoder_has_the_update_and_can_be_trained(peft, encoder, tmp_path):
    made_with_peft(peft, encoder, tmp_path / "theirs", head=False)
    ours = load_encoder(tmp_path / "theirs", device="cpu")
    model, _ = load_masked_lm(ours)
    assert all(parameter.requires_grad for parameter in model.parameters())
    body = model.base_model.state_dict()
    assert set(body) == set(ours.model.state_dict())
    assert all(torch.equal(value, body[name]) for name, value in ours.model.state_dict().items())


def test_an_update_for_another_encoder_is_refused(peft, encoder, shallow, tmp_path):
    made_with_peft(peft, encoder, tmp_path / "theirs", head=False)
    text = (tmp_path / "theirs" / "adapter_config.json").read_text("utf-8")
    (tmp_path / "theirs" / "adapter_config.json").write_text(text.replace(encoder.name, shallow.name))
    with pytest.raises(EncoderError, match=r"adapter|does not fit"):
        load_encoder(tmp_path / "theirs", device="cpu")


@pytest.mark.parametrize(("kind", "settings"), [("IA3Config", {"feedforward_modules": []}), ("LoHaConfig", {})])
def test_an_update_of_another_kind_that_lacks_a_layer_is_refused(peft, tiny_bert, tmp_path, kind, settings):
    settings = getattr(peft, kind)(target_modules=["key"], **settings)
    peft.get_peft_model(AutoModel.from_pretrained(tiny_bert), settings).save_pretrained(tmp_path)
    assert load_encoder(tmp_path, device="cpu").depth == 4
    file = tmp_path / "adapter_model.safetensors"
    save_file({name.replace("layer.0", "layer.9"): value for name, value in load_file(file).items()}, file)
    with pytest.raises(EncoderError, match=r"its update does not fit the encoder .*layer\.0\."):
        load_encoder(tmp_path, device="cpu")


def test_trained_vectors_beside_the_text_are_no_update(peft, tiny_bert, tmp_path):
    settings = peft.PromptTuningConfig(num_virtual_tokens=3, task_type="FEATURE_EXTRACTION")
    peft.get_peft_model(AutoModel.from_pretrained(tiny_bert), settings).save_pretrained(tmp_path)
    with pytest.raises(EncoderError, match="PROMPT_TUNING lets an encoder read trained vectors"):
        load_encoder(tmp_path, device="cpu")


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


def test_the_revision_of_an_update_is_that_of_its_encoder(peft, encoder, tmp_path):
    made_with_peft(peft, encoder, tmp_path / "lora", head=False)
    config = json.loads((tmp_path / "lora/adapter_config.json").read_text())
    for base, asked, words in (
        (encoder.name, None, None),  # a folder has no revision, whatever the adapter says
        (encoder.name, "step6", "is a folder, which has no revisions such as 'step6'"),
        ("owner/name", "step6", "was trained on owner/name in revision step5, not step6"),
    ):
        changed = {**config, "base_model_name_or_path": base, "revision": "step5"}
        (tmp_path / "lora/adapter_config.json").write_text(json.dumps(changed))
        with nullcontext() if words is None else pytest.raises((EncoderError, RequestError), match=words):
            load_encoder(tmp_path / "lora", revision=asked, device="cpu")


def test_the_masked_language_model_of_an_update_is_of_its_encoders_revision(peft, encoder, hub_name, tmp_path):
    made_with_peft(peft, encoder, tmp_path / "lora", head=False)
    config = json.loads((tmp_path / "lora/adapter_config.json").read_text())
    base, _, revision = hub_name.partition("@")
    config |= {"base_model_name_or_path": base, "revision": revision}
    (tmp_path / "lora/adapter_config.json").write_text(json.dumps(config))
    assert check_encoder(tmp_path / "lora") == "bert"
    ours = load_encoder(tmp_path / "lora", device="cpu")
    model, _ = load_masked_lm(ours)
    assert torch.equal(model.get_input_embeddings().weight, ours.model.get_input_embeddings().weight)
