import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AlbertConfig, AlbertModel, BertConfig, BertModel, CanineConfig

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Text
from crosslens.encoders.inputs import read_texts
from crosslens.encoders.load import check_encoder, load_encoder
from crosslens.encoders.models.adapters import ADAPTER
from crosslens.errors import EncoderError, RequestError
from toys import byte_level, word_piece


@pytest.fixture
def copy_of(tiny_bert, tmp_path):
    shutil.copytree(tiny_bert, tmp_path / "copy")
    return tmp_path / "copy"


def configure(folder, **settings):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | settings))


def test_what_is_loaded(tiny_bert):
    state = torch.random.get_rng_state()
    encoder = load_encoder(tiny_bert, device="cpu")
    assert (encoder.depth, encoder.width, encoder.capacity) == (4, 32, 64)
    assert not encoder.model.training
    assert encoder.tokenizer.padding_side == "right"
    assert torch.equal(torch.random.get_rng_state(), state)
    tensors = load_file(tiny_bert / "model.safetensors")
    assert all(torch.equal(tensors[name], p) for name, p in encoder.model.named_parameters())


def test_half_precision_is_loaded_as_float32(copy_of):
    tensors = load_file(copy_of / "model.safetensors")
    save_file({n: t.half() for n, t in tensors.items()}, copy_of / "model.safetensors", {"format": "pt"})
    configure(copy_of, dtype="float16")
    assert {p.dtype for p in load_encoder(copy_of, device="cpu").model.parameters()} == {torch.float32}


def test_a_head_on_top_and_a_prefix_are_fine(copy_of):
    tensors = load_file(copy_of / "model.safetensors")
    prefixed = {f"bert.{name}": tensor for name, tensor in tensors.items()} | {"cls.predictions.bias": torch.zeros(9)}
    save_file(prefixed, copy_of / "model.safetensors", {"format": "pt"})
    assert load_encoder(copy_of, device="cpu").depth == 4


def test_an_old_pickle_checkpoint_is_read(copy_of):
    torch.save(load_file(copy_of / "model.safetensors"), copy_of / "pytorch_model.bin")
    (copy_of / "model.safetensors").unlink()
    assert load_encoder(copy_of, device="cpu").depth == 4


def test_pickled_objects_are_refused_without_advice_to_load_them(copy_of):
    torch.save({"encoder": Path("x")}, copy_of / "pytorch_model.bin")
    (copy_of / "model.safetensors").unlink()
    with pytest.raises(EncoderError, match="cannot read the weights: they are pickled objects") as error:
        load_encoder(copy_of, device="cpu")
    assert "weights_only" not in str(error.value)


def test_tensors_that_would_be_random_are_an_error(copy_of):
    configure(copy_of, num_hidden_layers=5)
    with pytest.raises(
        EncoderError, match=r"16 tensors of the encoder are missing from the checkpoint, the first encoder.layer.4"
    ):
        load_encoder(copy_of)


def test_layers_that_would_be_dropped_are_an_error(copy_of):
    configure(copy_of, num_hidden_layers=3)
    with pytest.raises(EncoderError, match=r"contains 16 tensors of layers beyond num_hidden_layers"):
        load_encoder(copy_of)


def test_the_wrong_architecture_is_an_error(copy_of):
    configure(copy_of, model_type="distilbert")
    with pytest.raises(EncoderError, match=r"tensors of the encoder are missing from the checkpoint"):
        load_encoder(copy_of)


def test_shapes_that_do_not_fit(copy_of):
    configure(copy_of, hidden_size=64)
    with pytest.raises(EncoderError, match=r"has shape \(32,\) in the checkpoint but \(64,\) in config.json"):
        load_encoder(copy_of)


def test_truncated_and_damaged_files(copy_of):
    weights = copy_of / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(EncoderError, match="cannot read the weights"):
        load_encoder(copy_of)
    weights.unlink()
    with pytest.raises(EncoderError, match="cannot read the weights"):
        load_encoder(copy_of)
    (copy_of / "config.json").write_text("{")
    with pytest.raises(EncoderError, match=r"invalid config.json"):
        load_encoder(copy_of)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_attention_heads": 0}, "invalid config.json: num_attention_heads cannot be 0"),
        ({"hidden_act": "evil"}, "invalid config.json: hidden_act cannot be 'evil'"),
        ({"hidden_size": "64"}, "invalid config.json: Field 'hidden_size' expected int, got str"),
    ],
)
def test_settings_of_no_encoder_are_named(copy_of, settings, message):
    configure(copy_of, **settings)
    with pytest.raises(EncoderError, match=message):
        load_encoder(copy_of)


def test_a_configuration_without_settings(copy_of):
    (copy_of / "config.json").write_text("null")
    with pytest.raises(EncoderError, match=r"invalid config.json: it must hold settings"):
        load_encoder(copy_of)


def test_values_that_are_no_numbers(copy_of):
    tensors = load_file(copy_of / "model.safetensors")
    tensors["encoder.layer.1.output.dense.bias"][3] = float("nan")
    save_file(tensors, copy_of / "model.safetensors", {"format": "pt"})
    with pytest.raises(EncoderError, match=r"encoder.layer.1.output.dense.bias contains NaN or infinite"):
        load_encoder(copy_of)


def test_a_tokenizer_that_is_missing_or_too_large(copy_of):
    for file in copy_of.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(EncoderError, match="has no tokenizer"):
        load_encoder(copy_of)
    byte_level().save_pretrained(copy_of)
    with pytest.raises(EncoderError, match="the tokenizer uses id"):
        load_encoder(copy_of)


def test_long_texts_are_truncated_at_the_end_whatever_the_checkpoint_says(copy_of):
    settings = json.loads((copy_of / "tokenizer_config.json").read_text())
    (copy_of / "tokenizer_config.json").write_text(json.dumps(settings | {"truncation_side": "left"}))
    encoder = load_encoder(copy_of, device="cpu")
    corpus = Corpus((Text(("the cat sees the house .",)),), "texts", "en")
    whole, cut = (read_texts(encoder, corpus, window=window).windows[0].ids for window in (None, 5))
    assert cut.tolist() == [*whole[:4], whole[-1]]


def test_places_that_hold_no_encoder(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "run" / "checkpoint-500").mkdir(parents=True)
    (tmp_path / "run" / "checkpoint-500" / "config.json").touch()
    for name, message in (
        *((folder, "not found") for folder in (tmp_path / "nowhere", "./nowhere")),
        (tmp_path / "empty", "has no config.json"),
        (tmp_path / "run", r"did you mean \S+/run/checkpoint-500\?"),
        (tmp_path / "file", "is a file"),
    ):
        with pytest.raises(EncoderError, match=message):
            load_encoder(name)


def test_the_name_of_a_laboratory_is_no_hub_name():
    with pytest.raises(EncoderError, match=r"'lab:good' not found.*crosslens\.lab_encoder\('good'\)"):
        load_encoder("lab:good")


def test_offline_a_hub_name_fails_at_once_and_says_so():
    with pytest.raises(EncoderError, match=r"'nobody/nothing' not found.*the network is switched off"):
        load_encoder("nobody/nothing")


@pytest.mark.parametrize(
    ("config", "reason"), [(AlbertConfig(), "share one set of weights"), (CanineConfig(), "reads characters")]
)
def test_architectures_that_cannot_be_ablated_are_refused_by_name(tmp_path, config, reason):
    config.save_pretrained(tmp_path)
    with pytest.raises(EncoderError, match=reason):
        load_encoder(tmp_path)
    assert AlbertModel is not None


@pytest.mark.parametrize(
    ("model_type", "reason"),
    [
        (
            "new",
            "new encoders are not supported: they run code of their checkpoint; transformers has this architecture",
        ),
        ("NeoBERT", "unsupported architecture 'NeoBERT'"),
        ("neobert", "neobert encoders are not supported: they run code of their checkpoint, which transformers"),
    ],
)
def test_a_checkpoint_with_code_of_its_own_is_refused_with_the_reason(copy_of, model_type, reason):
    code = {"AutoConfig": "configuration.Config", "AutoModel": "modeling.Model"}
    configure(copy_of, model_type=model_type, auto_map=code, architectures=["Model"])
    (copy_of / "configuration.py").write_text("raise RuntimeError('this code ran')")
    with pytest.raises(EncoderError, match=reason):
        load_encoder(copy_of)
    configure(copy_of, model_type="bert")  # transformers has code of its own for this one
    assert load_encoder(copy_of, device="cpu").depth == 4


def test_an_unknown_architecture(copy_of):
    configure(copy_of, model_type="gpt2")
    with pytest.raises(EncoderError, match="unsupported architecture 'gpt2'"):
        load_encoder(copy_of)
    configure(copy_of, model_type="bertt")
    with pytest.raises(EncoderError, match=r"invalid config.json|unsupported architecture"):
        load_encoder(copy_of)


@pytest.mark.parametrize("offline", ["1", pytest.param("", marks=pytest.mark.slow)])  # huggingface_hub tries for long
def test_a_hub_name_is_found_in_the_cache_without_the_network(tiny_bert, tmp_path, offline):
    """In the layout that huggingface_hub keeps, with and without permission to ask the hub."""
    for name in ("models--someone--tiny", "models--tiny"):
        repository = tmp_path / "hub" / name
        (repository / "refs").mkdir(parents=True)
        (repository / "refs" / "main").write_text("abc")
        shutil.copytree(tiny_bert, repository / "snapshots" / "abc")
    code = (
        "from crosslens import load_encoder\n"
        "for name in ('someone/tiny', 'tiny'):\n"
        "    encoder = load_encoder(name, device='cpu')\n"
        "    print(encoder.name, encoder.depth, encoder.digest)"
    )
    environment = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": offline}
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120
    )
    digest = load_encoder(tiny_bert, device="cpu").digest
    assert shown.stdout.splitlines() == [f"someone/tiny 4 {digest}", f"tiny 4 {digest}"], shown.stderr


def test_the_hint_without_a_network_names_the_switch_and_a_whole_command(monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("CROSSLENS_OFFLINE", "1")
    with pytest.raises(EncoderError, match="the network is switched off") as refused:
        load_encoder("none")
    command = "`crosslens encoders get e5-small --out e5-small`"
    assert refused.value.hint == f"unset CROSSLENS_OFFLINE, give a folder, or run {command}"


def test_a_hub_that_cannot_be_reached_is_asked_once(tmp_path):
    """`runs/adapted` may be a missing folder or a name on the hub."""
    environment = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "", "HF_ENDPOINT": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "crosslens", "encoders", "show", "runs/adapted"]
    shown = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120)
    first, hint = shown.stderr.splitlines()
    assert first.startswith("crosslens: encoder 'runs/adapted' not found: neither a folder nor in the local cache")
    assert "the Hugging Face hub cannot be reached: " in first
    assert "Errno" not in first
    assert "give a folder" in hint


def test_every_subword_of_the_tokenizer_needs_an_embedding(tmp_path):
    tokenizer = word_piece()
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    for rows in (len(tokenizer), len(tokenizer) - 1):
        BertModel(BertConfig(vocab_size=rows, **sizes)).save_pretrained(tmp_path / str(rows))
        tokenizer.save_pretrained(tmp_path / str(rows))
    assert load_encoder(tmp_path / str(len(tokenizer)), device="cpu").depth == 1
    last = len(tokenizer) - 1
    with pytest.raises(EncoderError, match=f"the tokenizer uses id {last}, but the encoder has only {last} embeddings"):
        load_encoder(tmp_path / str(last), device="cpu")


@pytest.mark.parametrize("given", [None, ["tiny"]])
def test_what_is_no_name_is_not_asked_of_the_hub(given):
    with pytest.raises(RequestError, match=r"an encoder has a name or a folder, not the type \w+ .*save_pretrained"):
        load_encoder(given, device="cpu")


def test_an_encoder_is_checked_without_its_weights(copy_of):
    (copy_of / "model.safetensors").unlink()
    check_encoder(copy_of)
    (copy_of / "config.json").unlink()
    with pytest.raises(EncoderError, match="not a Hugging Face checkpoint"):
        check_encoder(copy_of)
    (copy_of / ADAPTER).write_text("{}")  # a low-rank update names its encoder itself
    with pytest.raises(EncoderError, match="cannot read the adapter"):
        check_encoder(copy_of)
