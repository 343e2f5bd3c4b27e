"""Batches: the state that stands for a sentence."""

from dataclasses import replace

import pytest
import torch

from crosslens.encoders.batch import make_batch
from crosslens.encoders.inputs import read_windows
from crosslens.errors import EncoderError


def test_an_encoder_without_a_special_token_is_refused(encoder, toy):
    windows = [
        replace(w, ids=w.ids[1:-1], labelled=w.labelled - 1, span=(0, len(w.ids) - 2))
        for w in read_windows(encoder, toy()).windows
    ]
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    with pytest.raises(EncoderError, match="this tokenizer adds none to a sentence"):
        batch.sentence_states(torch.zeros(*batch.ids.shape, 3))


def test_the_token_behind_a_sentence_stands_for_it_where_none_is_before(encoder, toy):
    windows = [
        replace(w, ids=w.ids[1:], labelled=w.labelled - 1, span=(0, len(w.ids) - 2))
        for w in read_windows(encoder, toy()).windows
    ]
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    states = batch.ids[:, :, None].float()
    last = encoder.tokenizer.sep_token_id
    assert batch.sentence_states(states).flatten().tolist() == [last] * len(windows)
