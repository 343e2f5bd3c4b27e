"""Freezing layers of every architecture."""

import pytest
import torch
from transformers import AutoConfig, AutoModel

from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder
from crosslens.encoders.reinit import random_init
from crosslens.training.finetune import finetune
from crosslens.training.recipe import Recipe
from toy_architectures import IDS, MASK, SETTINGS, bits, changed, inside, tagged
from toys import word_piece


def test_freezing_freezes_these_and_no_others(loaded):
    frozen = freeze(loaded, "0-1")
    still = {name for name, p in frozen.model.named_parameters() if not p.requires_grad}
    assert still == set(frozen.changes[-1].tensors)
    assert inside(frozen, 1) <= still
    assert not still & inside(frozen, 2, 3)
    assert any("embed" in name or "shared" in name for name in still)
    assert all(p.requires_grad for p in loaded.model.parameters())


def in_one_place(copied, encoder):
    """Parameters of a copy that have the memory of the encoder's."""
    places = {name: parameter.data_ptr() for name, parameter in encoder.model.named_parameters()}
    return {name for name, parameter in copied.model.named_parameters() if parameter.data_ptr() == places[name]}


def test_a_copy_shares_what_is_frozen_and_nothing_that_may_be_trained(loaded):
    frozen = freeze(loaded, "0-1")
    assert in_one_place(frozen, loaded) == set(frozen.changes[-1].tensors)
    again = freeze(frozen, "2")
    assert in_one_place(again, frozen) == {name for name, p in again.model.named_parameters() if not p.requires_grad}
    before = bits(loaded)
    with torch.no_grad():
        for parameter in frozen.model.parameters():
            if parameter.requires_grad:
                parameter += 1  # as an optimiser of another library would
    assert not changed(before, bits(loaded))


@pytest.mark.parametrize("layers", ["0-3", "0-1"])
def test_frozen_layers_compute_the_same_after_training(loaded, layers):
    usual = random_init(loaded, "0,all", seed=1)
    recipe = Recipe(batch=2, epochs=3, learning_rate=1e-1, weight_decay=0.5, select="last", encoder_dropout="off")
    trained = finetune(freeze(usual, layers), "pos", train=tagged(), recipe=recipe).encoder
    with torch.inference_mode():
        before, after = layer_outputs(usual, IDS, MASK), layer_outputs(trained, IDS, MASK)
    kept = [bool(torch.equal(a[MASK.bool()], b[MASK.bool()])) for a, b in zip(before, after, strict=True)]
    assert kept == [number <= int(layers[-1]) for number in range(usual.depth + 1)]


def test_what_layers_share_is_said_in_the_record(loaded, kind):
    expected = {
        "deberta": {"encoder.rel_embeddings.weight"},
        "deberta-v2": {"encoder.rel_embeddings.weight", "encoder.LayerNorm.weight", "encoder.LayerNorm.bias"},
        "mpnet": {"encoder.relative_attention_bias.weight"},
        "t5": {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
        "mt5": {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"},
        "neomme": {"value_embeddings.weight"},
    }.get(kind, set())
    (drawn,), (frozen,) = random_init(loaded, "1", seed=1).changes, freeze(loaded, "1").changes
    assert set(drawn.shared) == set(frozen.shared) == expected
    assert expected <= set(frozen.tensors)
    assert not freeze(loaded, "0").changes[-1].shared
    (everything,) = random_init(loaded, "0,all", seed=1).changes
    assert expected <= set(everything.tensors)
    for name in expected:
        assert drawn.described.endswith("which is not re-initialised")
        assert name in drawn.described
        assert "among them what all layers share" in frozen.described
        assert "not re-initialised" not in everything.described


def test_a_convolution_between_two_layers_is_frozen_with_them(tmp_path):
    config = AutoConfig.for_model("deberta-v2", vocab_size=100, conv_kernel_size=3, **SETTINGS["deberta-v2"])
    AutoModel.from_config(config).save_pretrained(tmp_path)
    word_piece().save_pretrained(tmp_path)
    frozen = freeze(load_encoder(tmp_path, device="cpu"), "0-3")
    convolution = list(frozen.model.encoder.conv.parameters())
    assert convolution
    assert not any(parameter.requires_grad for parameter in convolution)


def test_frozen_layers_stay_frozen_when_others_are_frozen_too(encoder):
    def frozen(encoder):
        return {name for name, parameter in encoder.model.named_parameters() if not parameter.requires_grad}

    once = freeze(encoder, "0-1,3")
    assert frozen(freeze(freeze(encoder, "0-1"), "3")) == frozen(freeze(freeze(encoder, "3"), "0-1")) == frozen(once)
    assert not any(name.startswith("encoder.layer.1.") for name in frozen(once))
