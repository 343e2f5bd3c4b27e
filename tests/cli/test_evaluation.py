"""What commands compare and probe: an encoder, or that of a fine-tuned model, as the options change it."""

import pytest
import torch
from torch import nn
from transformers import AutoTokenizer, BertModel

from crosslens.cli._evaluation import find_folder, load_subject
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.read_as import read_as
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.errors import RequestError


def test_an_encoder_is_reinitialised_and_read_as_the_options_say(tiny_bert):
    encoder, model = load_subject(
        str(tiny_bert), {"repeat": 2, "precision": None}, device="cpu", random_init="1", seed=3
    )
    expected = read_as(random_init(load_encoder(tiny_bert, device="cpu"), "1", seed=3), repeat=2)
    assert model is None
    assert encoder.condition == expected.condition == Condition(layers="1", repeat=2)
    assert encoder.digest == expected.digest
    unchanged, _ = load_subject(str(tiny_bert), {}, device="cpu")
    assert unchanged.condition.is_reference
    assert unchanged.digest != encoder.digest


def test_a_checkpoint_of_two_bytes_per_weight_stays_that_small(tiny_bert, tmp_path):
    BertModel.from_pretrained(tiny_bert, dtype=torch.bfloat16).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(tmp_path)
    for precision, dtype in (("bfloat16", torch.bfloat16), (None, torch.float32)):
        encoder, _ = load_subject(str(tmp_path), {"precision": precision}, device="cpu")
        linear = [module for module in encoder.trained.modules() if isinstance(module, nn.Linear)]
        assert {module.weight.dtype for module in linear} == {dtype}


def test_pretraining_the_encoder_of_a_laboratory_shows_its_progress(tmp_path, monkeypatch, capsys):
    def pretrain(laboratory, cache, *, progress):
        progress.say("a step of pretraining")
        return tmp_path

    monkeypatch.setattr("crosslens.mlm.lab_encoder.pretrained_laboratory", pretrain)
    assert find_folder("lab:good") == str(tmp_path)
    assert "a step of pretraining" in capsys.readouterr().err
    assert find_folder("another") == "another"
    with pytest.raises(RequestError, match="nowhere"):  # before a minute of pretraining
        find_folder("lab:good", device="nowhere")
