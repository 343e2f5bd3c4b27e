"""Uploading to the Hugging Face hub, against a stand-in for it."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import HFValidationError

import crosslens as xl
from crosslens.errors import EncoderError, RequestError, WorkError
from crosslens.training.checkpoint import READOUT


class StandIn:
    """Keeps what is uploaded in a folder."""

    def __init__(self, folder):
        self.folder, self.calls = folder, []

    def __call__(self, token=None):
        self.token = token
        return self

    def create_repo(self, name, *, private, exist_ok):
        if name.count("/") > 1:
            raise HFValidationError(f"Repo id must be in the form 'user/name': '{name}'.\nmore")
        assert exist_ok
        self.calls.append((name, private))
        return huggingface_hub.RepoUrl(f"https://huggingface.co/{name}")

    def upload_folder(self, *, repo_id, folder_path, commit_message, delete_patterns):
        assert "crosslens" in commit_message
        for pattern in delete_patterns:
            for file in (self.folder / repo_id).glob(pattern):
                file.unlink()
        shutil.copytree(folder_path, self.folder / repo_id, dirs_exist_ok=True)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.delenv("CROSSLENS_OFFLINE", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    stand_in = StandIn(tmp_path / "hub")
    monkeypatch.setattr(huggingface_hub, "HfApi", stand_in)
    return stand_in


@pytest.fixture(scope="module")
def tagger(tiny_bert, treebanks):
    encoder = xl.random_init(xl.load_encoder(tiny_bert, device="cpu"), layers="1-2")
    train = xl.load_corpus("ud/en_toy:train", data=str(treebanks))
    recipe = xl.find_recipe("small", "pos", {"epochs": 1, "select": "last"})
    return xl.finetune(encoder, "pos", train=train, recipe=recipe, seed=1)


def test_the_uploaded_folder_is_the_model_with_its_card(hub, tagger, treebanks):
    assert tagger.push_to_hub("user/pos-1-2", token="secret") == "https://huggingface.co/user/pos-1-2"
    assert (hub.calls, hub.token) == ([("user/pos-1-2", True)], "secret")
    folder = hub.folder / "user/pos-1-2"
    card = (folder / "README.md").read_text("utf-8")
    assert "`ud/en_toy:train` (en), 6 sentences; seed 1" in card
    assert "crosslens condition: `1-2`" in card
    french = xl.load_corpus("ud/fr_pud", data=str(treebanks))
    again = xl.load_model(folder, device="cpu")
    assert xl.evaluate(again, french).records["value"] == xl.evaluate(tagger, french).records["value"]
    tagger.push_to_hub("user/open", visibility="public")
    assert hub.calls[-1] == ("user/open", False)


def test_nothing_is_left_of_the_readout_of_a_model_uploaded_before(hub, tagger, treebanks):
    """A readout beside a model that has none would be read with it."""
    train = xl.load_corpus("ud/en_toy:train", data=str(treebanks))
    features = xl.as_features(xl.load_encoder(tagger.encoder.name, device="cpu"), seed=1)
    xl.finetune(features, "pos", train=train, recipe=tagger.recipe).push_to_hub("user/pos")
    folder = hub.folder / "user/pos"
    assert xl.load_model(folder, device="cpu").encoder.readout is not None
    readout = (folder / READOUT).read_bytes()
    tagger.push_to_hub("user/pos")
    assert xl.load_model(folder, device="cpu").encoder.digest == tagger.encoder.digest
    (folder / READOUT).write_bytes(readout)
    with pytest.raises(EncoderError, match=r"is damaged: ValueError: features\.safetensors belongs to none"):
        xl.load_model(folder, device="cpu")


def test_what_a_model_uploaded_before_was_trained_on_is_not_kept(hub, tagger):
    folder = hub.folder / "user/pos"
    tagger.push_to_hub("user/pos")
    assert xl.load_model(folder, device="cpu").trained_on
    replace(tagger, trained_on=None).push_to_hub("user/pos")  # of an earlier version
    assert xl.load_model(folder, device="cpu").trained_on is None


def test_a_refusal_is_one_sentence(hub, tagger):
    with pytest.raises(RequestError, match="the hub refused a/b/c: Repo id must be") as caught:
        tagger.push_to_hub("a/b/c")
    assert "hf auth login" in caught.value.hint
    assert "more" not in str(caught.value)


def test_a_hub_that_cannot_be_reached_is_named_in_one_sentence(tagger, monkeypatch):
    """The real client: its errors are of another library in each version of huggingface_hub."""
    for name in ("CROSSLENS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub, "HfApi", partial(huggingface_hub.HfApi, endpoint="http://127.0.0.1:9"))
    with pytest.raises(WorkError, match=r"user/pos cannot be uploaded: .*check the network connection"):
        tagger.push_to_hub("user/pos", token="secret")


def test_nothing_is_uploaded_offline_or_of_a_changed_model(hub, tagger, monkeypatch):
    with pytest.raises(RequestError, match="cannot save an encoder whose states are replaced"):
        xl.intervene(tagger, "1:zero").push_to_hub("user/zero")
    monkeypatch.setenv("CROSSLENS_OFFLINE", "1")
    with pytest.raises(RequestError, match="network access is switched off"):
        tagger.push_to_hub("user/pos")
    assert hub.calls == []


def test_save_is_save_model(tagger, tmp_path):
    tagger.save(tmp_path / "a")
    xl.save_model(tagger, tmp_path / "b")
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "b").iterdir())
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)
    assert Path(tmp_path / "a" / "crosslens.json").is_file()
