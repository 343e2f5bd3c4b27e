"""The readout of `as_tower`, against Transformer layers of torch on states that numpy normalises."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.interventions.read_as import read_as
from crosslens.encoders.load import load_encoder
from crosslens.encoders.models.adapters import add_lora
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features
from crosslens.encoders.readouts.transformer import TransformerReadout, as_tower, rotated
from crosslens.errors import RequestError
from toy_architectures import fresh
from toys import word_piece


def unit(states):
    return states / np.linalg.norm(states, axis=-1, keepdims=True)


@pytest.mark.parametrize("rounds", [0, 2])
def test_it_reads_unit_vectors_times_the_root_of_the_width_without_padding(encoder, rounds):
    generator = np.random.default_rng(0)
    means = generator.normal(scale=0.1, size=(rounds, encoder.width))
    matrix = np.linalg.qr(generator.normal(size=(encoder.width, encoder.width)))[0]
    tower = as_tower(encoder, 2, seed=1, height=2)
    tower.trained.eval()
    readout = rotated(tower.readout, torch.tensor(means), torch.tensor(matrix)).eval()
    block = nn.TransformerEncoderLayer(encoder.width, 2, 64, 0.0, activation="gelu", batch_first=True)
    by_torch = nn.TransformerEncoder(block, 2, enable_nested_tensor=False).eval()
    by_torch.load_state_dict(readout.stack.state_dict())
    ids, mask = torch.tensor([[2, 60, 61, 62, 3], [2, 63, 3, 0, 0]]), torch.tensor([[1] * 5, [1, 1, 1, 0, 0]])
    with torch.no_grad():
        read = replace(tower, readout=readout).states(ids, mask)
        for row, length in enumerate(mask.sum(1).tolist()):
            states = layer_outputs(encoder, ids[[row], :length], mask[[row], :length])[2].double().numpy()
            states = unit(states)
            for mean in means:
                states = unit(states - mean)
            expected = by_torch(torch.tensor(states @ matrix * encoder.width**0.5).float())[0]
            torch.testing.assert_close(read[row, :length], expected, rtol=1e-4, atol=1e-5)


def test_matrices_begin_as_in_bert_and_all_differ():
    """Its standard deviation of 0.02, at its width of 768."""
    readout = TransformerReadout(0, 768, 12, 768, 2, 0.1)
    matrices = [parameter.detach() for parameter in readout.stack.parameters() if parameter.ndim > 1]
    assert len(matrices) == 2 * 4
    assert [float(each.std()) for each in matrices] == pytest.approx([0.02] * 8, rel=0.03)
    assert not torch.equal(matrices[0], matrices[4])


def test_the_heads_of_an_encoder_need_not_divide_its_width(tmp_path):
    """Those of mT5-small do not."""
    tokenizer = word_piece()
    fresh("mt5", 0, tokenizer, num_heads=6, d_kv=8).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    tower = as_tower(load_encoder(tmp_path, device="cpu"), 1, seed=1, height=1)
    assert (tower.width, tower.readout.stack.layers[0].self_attn.num_heads) == (32, 4)


@pytest.mark.parametrize(("layer", "height"), [("1-2", 4), (1, 0), ("all", 4)])
def test_several_layers_and_no_height_are_refused(encoder, layer, height):
    with pytest.raises(RequestError, match="invalid"):
        as_tower(encoder, layer, seed=1, height=height)


@pytest.mark.parametrize("change", [lambda e: as_tower(e, 1, seed=1), lambda e: as_features(e, seed=1), read_as])
def test_a_name_in_place_of_an_encoder_is_refused(change):
    with pytest.raises(RequestError, match="is a str and not an encoder"):
        change("bert")
    with pytest.raises(RequestError, match="is a str and not an encoder"):
        add_lora("bert", 4)  # pyright: ignore[reportArgumentType]
