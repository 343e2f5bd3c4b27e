"""Frozen layers: how much states from the file may differ from those that are computed whole."""

import pytest

from crosslens.encoders.freeze import freeze
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.load import load_encoder
from crosslens.encoders.state_cache import StateCache
from toy_architectures import fresh
from toys import word_piece


@pytest.mark.parametrize(("added", "kept"), [(0.0, True), (0.01, False)])
def test_in_float32_a_difference_beyond_rounding_is_noticed(encoder, toy, added, kept):
    """The last layer adds to its input whenever the first layer does any work."""
    frozen, worked = freeze(encoder, "0-2"), []
    frozen.model.register_forward_pre_hook(lambda *_: worked.clear())
    frozen.layers[0].attention.register_forward_hook(lambda *_: worked.append(added))
    frozen.layers[-1].register_forward_pre_hook(lambda _, given: (given[0] + sum(worked), *given[1:]))
    assert StateCache(frozen).keep(read_windows(frozen, toy()).windows) is kept


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_in_bfloat16_it_may_be_larger(toy, tmp_path, precision):
    """ELECTRA projects its embeddings, which are rounded on the way; states from the file are not."""
    tokenizer = word_piece()
    fresh("electra", 0, tokenizer).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = InPrecision(precision=precision).apply(load_encoder(tmp_path, device="cpu"), seed=0)
    frozen = freeze(loaded, "0-1")
    assert StateCache(frozen).keep(read_windows(frozen, toy()).windows)
