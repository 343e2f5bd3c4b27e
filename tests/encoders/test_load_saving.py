"""What is saved of an encoder, and what is refused."""

import pytest

from crosslens.encoders.freeze import freeze
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features
from crosslens.errors import RequestError
from toys import word_piece


def test_saving_never_overwrites(encoder, tmp_path):
    save_encoder(encoder, tmp_path / "saved")
    with pytest.raises(RequestError, match="exists already"):
        save_encoder(encoder, tmp_path / "saved")
    assert word_piece().get_vocab() == load_encoder(tmp_path / "saved", device="cpu").tokenizer.get_vocab()


def test_what_a_saved_encoder_would_not_have_is_not_saved(encoder, tmp_path):
    with pytest.raises(RequestError, match=r"how an encoder reads text \(precision=bfloat16\)"):
        save_encoder(InPrecision(precision="bfloat16").apply(encoder, seed=0), tmp_path / "saved")
    with pytest.raises(RequestError, match=r"how an encoder will be trained \(frozen 0-2\)"):
        save_encoder(freeze(encoder, "0-2"), tmp_path / "saved")
    with pytest.raises(RequestError, match="cannot save the readout"):
        save_encoder(as_features(encoder, seed=1), tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
