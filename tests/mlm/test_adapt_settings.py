"""Settings of an adaptation: what each of them decides."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Text
from crosslens.encoders.load import load_encoder, load_masked_lm
from crosslens.errors import RequestError
from crosslens.mlm.adapt import adapt
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Masking
from crosslens.training import versions
from toys import SENTENCES

SMALL = Adaptation(epochs=1, length=16, batch=4, learning_rate=3e-3, held_out=0.1)
FRENCH = Corpus(tuple(Text((line,)) for line in SENTENCES["fr"] * 10), "raw", "fr")


class Begun(Exception):
    pass


@pytest.fixture
def begin(masked_bert, tmp_path, monkeypatch):
    """Adapt up to where training begins; return the number of steps, the model, its batches and held-out ones."""
    begun = []

    def stop(loop, model, batches, *, unseen, **options):
        begun.append((loop.settings.steps, model, lambda step: batches(step)[0], unseen["fr"]))
        raise Begun

    def call(encoder=masked_bert, folder=None, **changes):
        settings = SMALL.model_copy(update=changes)
        monkeypatch.setattr("crosslens.mlm.adapt.train_language_model", stop)
        with pytest.raises(Begun):
            adapt(encoder, {"fr": FRENCH}, folder or tmp_path / str(len(begun)), settings=settings, device="cpu")
        return begun[-1]

    return call


@pytest.mark.parametrize("change", ["version", "weights"])
def test_a_training_by_other_rules_or_of_other_weights_is_not_resumed(
    begin, masked_bert, tmp_path, monkeypatch, change
):
    """The weights of an encoder, not its name: a folder may be written again."""
    model, _ = load_masked_lm(load_encoder(masked_bert, device="cpu"), seed=1)
    for save in (model.save_pretrained, load_encoder(masked_bert).tokenizer.save_pretrained):
        save(tmp_path / "bert")
    begin(tmp_path / "bert", tmp_path / "out")
    begin(tmp_path / "bert", tmp_path / "out")  # the same again is
    if change == "version":
        monkeypatch.setattr(versions, "ADAPTATION", versions.ADAPTATION + 1)
    else:
        with torch.no_grad():
            model.base_model.embeddings.word_embeddings.weight.mul_(2)
        model.save_pretrained(tmp_path / "bert")
    with pytest.raises(RequestError, match="holds an unfinished training with other settings or text"):
        adapt(tmp_path / "bert", {"fr": FRENCH}, tmp_path / "out", settings=SMALL, device="cpu")


OTHER = {
    "epochs": 2,
    "length": 8,
    "batch": 2,
    "precision": "bfloat16",
    "learning_rate": 1e-3,
    "warmup": 0.2,
    "weight_decay": 0.1,
    "clip": 2.0,
    "masking": Masking(share=0.2),
    "held_out": 0.2,
    "freeze": "0",
    "seed": 2,
}
"""Every setting -> another value."""


def test_a_training_with_another_value_of_any_setting_is_not_resumed(begin, masked_bert, tmp_path):
    begin(folder=tmp_path / "out")
    assert OTHER.keys() == Adaptation.model_fields.keys()
    for name, value in OTHER.items():
        settings = SMALL.model_copy(update={name: value})
        with pytest.raises(RequestError, match="holds an unfinished training with other settings or text"):
            adapt(masked_bert, {"fr": FRENCH}, tmp_path / "out", settings=settings, device="cpu")


@pytest.mark.parametrize(
    "changes",
    [
        {"warmup": 0.9},
        {"learning_rate": 1e-3},
        {"weight_decay": 0.4},
        {"clip": 1e-9},  # so small that AdamW's epsilon is felt
        {"precision": "bfloat16"},
    ],
)
def test_every_setting_of_the_optimiser_changes_the_weights(masked_bert, tmp_path, changes):
    few = FRENCH[:12]
    for name, settings in (("plain", SMALL), ("changed", SMALL.model_copy(update=changes))):
        adapt(masked_bert, {"fr": few}, tmp_path / name, settings=settings, device="cpu")
    assert load_encoder(tmp_path / "plain").digest != load_encoder(tmp_path / "changed").digest


@pytest.mark.parametrize(("masked", "replaced"), [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0)])
def test_subwords_are_hidden_as_the_settings_say_in_training_and_in_held_out_text(begin, masked_bert, masked, replaced):
    mask = load_encoder(masked_bert).tokenizer.mask_token_id
    steps, _, batches, held_out = begin(masking=Masking(share=0.5, masked=masked, replaced=replaced))
    for parts in ([batches(step) for step in range(steps)], held_out):
        wanted, shown, predicted = (np.concatenate([part[place] for part in parts]) for place in (1, 2, 3))
        assert 0.3 < predicted.mean() < 0.6
        assert (shown[predicted] == mask).mean() == masked
        assert np.isclose((shown != wanted)[predicted].mean(), masked + replaced, atol=0.1)
        assert (shown == wanted)[~predicted].all()


def test_every_batch_hides_subwords_of_its_own_in_training_and_in_held_out_text(begin):
    steps, _, batches, held_out = begin(epochs=3, held_out=0.5)
    hidden = [batch[3].tobytes() for batch in (*map(batches, range(steps)), *held_out)]
    assert min(steps, len(held_out)) > 5
    assert len(set(hidden)) == len(hidden)
    assert batches(7)[3].tobytes() == hidden[7]


def test_the_seed_draws_a_head_that_is_missing(begin, tiny_bert):
    first, again, other = (begin(tiny_bert, seed=seed)[1].cls.predictions.transform.dense.weight for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)


def test_blocks_are_no_longer_than_what_the_encoder_reads(begin, masked_bert):
    _, _, batches, _ = begin(length=500)
    assert batches(0)[1].shape[1] == load_encoder(masked_bert).capacity


def test_the_defaults_are_the_documented_ones():
    reference = (Path(__file__).parents[2] / "docs" / "reference.md").read_text("utf-8")
    table = reference.partition("\n## Adaptation\n")[2].partition("\n## ")[0]
    defaults = Adaptation().model_dump()
    compared = set()
    for names, numbers in re.findall(r"^\| (`[^|]+`) \| (\d[^|]*) \|", table, re.MULTILINE):
        settings = re.findall(r"`(\w+)`", names)
        values = [defaults[name] for name in settings] if settings != ["masking"] else [*defaults["masking"].values()]
        assert [float(number) for number in numbers.split(", ")] == values
        compared |= {*settings}
    assert compared == {*defaults} - {"precision", "freeze"}  # which have no number
