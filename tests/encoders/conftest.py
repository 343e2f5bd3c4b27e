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


@pytest.fixture
def hub_name(tiny_bert, tmp_path, monkeypatch):
    """The name of `tiny_bert` in the hub's cache, as the revision step5, which is not the default one."""
    cached = tmp_path / "hub" / "models--owner--name"
    (cached / "refs").mkdir(parents=True)
    (cached / "snapshots").mkdir()
    for revision, digit in (("main", "a"), ("step5", "b")):
        (cached / "refs" / revision).write_text(digit * 40)
    (cached / "snapshots" / ("b" * 40)).symlink_to(tiny_bert)
    for module in ("huggingface_hub.constants", "transformers.utils.hub.constants"):
        monkeypatch.setattr(f"{module}.HF_HUB_CACHE", str(tmp_path / "hub"))
    return "owner/name@step5"
