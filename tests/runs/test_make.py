"""The encoder that a run starts from."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from crosslens.encoders import matmul
from crosslens.encoders.condition import Condition
from crosslens.encoders.load import load_encoder, save_encoder
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
