"""On a GPU, cuDNN reads the weights of an LSTM without copying them if they are stored together."""

import pytest
import torch
from torch import nn

import crosslens as xl
from crosslens.encoders.models.adapters import copy_to_train
from crosslens.encoders.models.bilstm import fresh_bilstm


@pytest.mark.parametrize("kind", ["features", "bilstm"])
def test_the_weights_of_a_copied_lstm_are_stored_together_before_it_is_used(kind, encoder, toy, monkeypatch):
    made = xl.as_features(encoder, seed=1) if kind == "features" else fresh_bilstm(toy(), device="cpu")
    copied = copy_to_train(made).trained
    lstms = {id(module) for module in copied.modules() if isinstance(module, nn.LSTM)}
    assert lstms
    together = []
    monkeypatch.setattr(nn.LSTM, "flatten_parameters", lambda lstm: together.append(id(lstm)))
    for training in (True, False):
        together.clear()
        copied.train(training)
        assert set(together) == lstms
    together.clear()
    with torch.inference_mode():
        copied.train()
    assert not together
