"""Checkpoints of pretraining: what is kept, under which names it is loaded, and what does not change."""

import pytest
import torch

from crosslens.encoders.interventions.checkpoints import Checkpoint, kept_steps, locate
from crosslens.encoders.load import load_encoder, load_masked_lm
from crosslens.errors import EncoderError, RequestError
from crosslens.mlm.pretrain import fresh_model, pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Shape, Vocabulary
from toys import SENTENCES

SETTINGS = Pretraining(
    corpora={"en": "en.txt"},
    vocabulary=Vocabulary(size=120),
    batch=4,
    steps=6,
    checkpoints=(4, 0, 6),
    shape=Shape(layers=2, width=16, heads=2, positions=24),
)


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    (folder / "en.txt").write_text("\n".join(SENTENCES["en"] * 12), "utf-8")
    return folder


@pytest.fixture(scope="module")
def pretrained(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretrained") / "encoder"
    pretrain(SETTINGS, folder, base=texts, device="cpu")
    return folder


def digest(name):
    return load_encoder(name, device="cpu").digest


def test_the_weights_of_each_step_are_kept_from_the_initial_ones_to_the_last(pretrained, texts, tmp_path):
    assert kept_steps(pretrained) == ("0", "4", "6")
    assert digest(f"{pretrained}@6") == digest(pretrained)
    encoder = load_encoder(f"{pretrained}@0", device="cpu")
    initial = fresh_model(SETTINGS, {"en": encoder.tokenizer}).base_model  # pyright: ignore[reportArgumentType]
    assert all(
        torch.equal(value, initial.get_parameter(name))
        for name, value in encoder.model.named_parameters()
        if "pooler" not in name
    )
    assert len({digest(f"{pretrained}@{step}") for step in (0, 4, 6)}) == 3
    pretrain(SETTINGS.model_copy(update={"checkpoints": ()}), tmp_path / "plain", base=texts, device="cpu")
    assert digest(tmp_path / "plain") == digest(pretrained)
    assert kept_steps(tmp_path / "plain") == ()


def test_killed_between_two_checkpoints_all_are_kept_with_the_same_bits(pretrained, texts, tmp_path):
    def kill(update):
        if (update.unit, update.done) == ("steps", 5):
            raise SystemExit

    with pytest.raises(SystemExit):
        pretrain(SETTINGS, tmp_path / "out", base=texts, save_every=3, device="cpu", progress=kill)
    pretrain(SETTINGS, tmp_path / "out", base=texts, save_every=3, device="cpu")
    assert kept_steps(tmp_path / "out") == ("0", "4", "6")
    for step in ("0", "4", "6"):
        assert digest(f"{tmp_path / 'out'}@{step}") == digest(f"{pretrained}@{step}")


def test_a_number_is_every_so_many_steps():
    assert SETTINGS.model_copy(update={"checkpoints": 4}).kept_steps == (0, 4, 6)
    assert Pretraining.model_validate({**SETTINGS.model_dump(), "checkpoints": [6, 0, 6]}).kept_steps == (0, 6)
    with pytest.raises(ValueError, match="checkpoints: step 7 is beyond the 6 steps of training"):
        Pretraining.model_validate({**SETTINGS.model_dump(), "checkpoints": [7]})


def test_a_checkpoint_has_its_masked_language_model(pretrained):
    encoder = load_encoder(f"{pretrained}@4", device="cpu")
    model, fresh = load_masked_lm(encoder)
    assert fresh == ()
    assert torch.equal(model.get_input_embeddings().weight, encoder.model.get_input_embeddings().weight)


def test_names(pretrained, tiny_bert, tmp_path):
    assert locate("owner/name@step1000") == ("owner/name", "step1000")
    assert locate("owner/name", "main") == ("owner/name", "main")
    assert locate(f"{pretrained}@4") == (str(pretrained / "checkpoints" / "4"), None)
    (tmp_path / "a@b").mkdir()
    assert locate(str(tmp_path / "a@b")) == (str(tmp_path / "a@b"), None)
    with pytest.raises(EncoderError, match="two revisions, x and y"):
        locate("owner/name@x", "y")
    with pytest.raises(EncoderError, match="has no checkpoint 5") as error:
        load_encoder(f"{pretrained}@5")
    assert "0, 4, 6" in str(error.value.hint)
    with pytest.raises(EncoderError, match="has no checkpoint 5") as error:
        load_encoder(f"{tiny_bert}@5")
    assert "checkpoints=STEPS" in str(error.value.hint)


def test_a_revision_of_the_hub_is_loaded_by_name_with_its_masked_language_model(hub_name, tiny_bert):
    loaded = load_encoder(hub_name, device="cpu")
    assert (loaded.name, loaded.digest) == (hub_name, digest(tiny_bert))
    same = load_encoder("owner/name", revision="step5", device="cpu")
    assert (same.name, same.digest) == (loaded.name, loaded.digest)
    with pytest.raises(EncoderError, match="owner/name"):
        load_encoder("owner/name@step6", device="cpu")
    model, _ = load_masked_lm(loaded)
    assert torch.equal(model.get_input_embeddings().weight, loaded.model.get_input_embeddings().weight)


def test_a_revision_of_a_folder_is_refused(pretrained):
    for folder in (pretrained, f"{pretrained}@4"):
        with pytest.raises(RequestError, match="is a folder, which has no revisions such as 'step5'"):
            load_encoder(folder, revision="step5", device="cpu")


def test_kept_steps_ascend_as_numbers(tmp_path):
    for step in ("100", "20", "3", "partial"):
        (tmp_path / "checkpoints" / step).mkdir(parents=True)
    assert kept_steps(tmp_path) == ("3", "20", "100")


@pytest.mark.parametrize(
    ("name", "step"), [("500", 500), ("step1000", 1000), ("stage2-step30-tokens4B", 30), ("3000-tokens6B", 3000)]
)
def test_the_step_is_the_number_that_is_called_so_or_else_the_first(name, step):
    assert Checkpoint(name=name).step == step
