"""The encoder that a run starts from."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from crosslens.encoders import matmul
from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.models.held_weights import has_int8
from crosslens.runs import make
from crosslens.runs.corpora import Corpora
from crosslens.runs.make import begin
from crosslens.runs.run import EncoderRef, EncoderRun
from toy_architectures import fresh


@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_weights_that_bfloat16_represents_are_held_in_the_precision_of_the_run(
    encoder, tmp_path, monkeypatch, precision
):
    """As those of published decoders, which then take half the memory."""
    monkeypatch.setattr(matmul, "_processor_features", lambda: frozenset({"amx_bf16"}))
    model = fresh("bert", 0, encoder.tokenizer)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.bfloat16())
    save_encoder(replace(encoder, model=model), tmp_path / "rounded")
    base = EncoderRef(str(tmp_path / "rounded"), "rounded", load_encoder(tmp_path / "rounded", device="cpu").digest)
    condition = Condition(precision=precision) if precision == "bfloat16" else Condition()
    begun = begin(EncoderRun(base, condition, 1), Corpora(), device="cpu")
    linear = [module.weight.dtype for module in begun.model.modules() if isinstance(module, nn.Linear)]
    assert set(linear) == {getattr(torch, precision)}
    assert begun.precision == precision


def test_weights_are_rounded_before_they_are_on_the_device(encoder, monkeypatch):
    base = EncoderRef(encoder.name, "bert", encoder.digest)
    loaded = []
    monkeypatch.setattr(
        make, "load_encoder", lambda *_, **options: loaded.append(load_encoder(*_, **options)) or loaded[-1]
    )
    condition = Condition(layers="1", quantize="int8")
    begun = begin(EncoderRun(base, condition, 1), Corpora(), device="cpu")
    assert has_int8(loaded[0].model)
    assert begun.condition == condition
    assert not has_int8(begun.layers[0])
    assert has_int8(begun.layers[1])
