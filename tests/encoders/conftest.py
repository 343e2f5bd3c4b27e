"""Fixtures: a checkpoint of every architecture."""

import pytest
import torch

from crosslens.encoders.load import load_encoder
from toy_architectures import SETTINGS, fresh, known
from toys import word_piece


@pytest.fixture(scope="module", params=sorted(SETTINGS))
def kind(request):
    return known(request.param)


@pytest.fixture(scope="module")
def loaded(kind, tmp_path_factory):
    """A checkpoint whose every parameter is far from any initialisation, loaded."""
    tokenizer = word_piece()
    model = fresh(kind, 0, tokenizer)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.37)
    folder = tmp_path_factory.mktemp(kind) / "checkpoint"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_encoder(folder, device="cpu")


@pytest.fixture
def peft():
    return pytest.importorskip("peft", reason="needs PEFT: pip install 'crosslens[lora]'")
