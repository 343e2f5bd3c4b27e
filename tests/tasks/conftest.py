"""Fixtures: the toy corpus as an encoder reads it."""

import pytest
import torch

from crosslens.encoders.batch import make_batch
from crosslens.encoders.inputs import read_windows


@pytest.fixture
def read(encoder, toy):
    corpus = toy()
    windows = read_windows(encoder, corpus).windows
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    with torch.no_grad():
        return corpus, batch, encoder.states(batch.ids, batch.mask)
