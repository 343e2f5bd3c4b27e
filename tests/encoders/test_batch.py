"""Batches: the state that stands for a sentence."""

from dataclasses import replace

import torch

from crosslens.encoders.batch import make_batch
from crosslens.encoders.inputs import read_windows


def test_without_a_special_token_the_mean_over_subwords_stands_for_a_sentence(encoder, toy):
    windows = [
        replace(w, ids=w.ids[1:-1], labelled=w.labelled - 1, starts=w.starts - 1, before=0)
        for w in read_windows(encoder, toy()).windows
    ]
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    states = torch.randn(*batch.ids.shape, 3, generator=torch.Generator().manual_seed(0))
    means = [row[: len(window)].mean(0) for row, window in zip(states, windows, strict=True)]
    torch.testing.assert_close(batch.sentence_states(states), torch.stack(means))


def test_the_mean_of_a_text_is_that_of_its_subwords_without_special_tokens_and_padding(encoder, toy):
    windows = read_windows(encoder, toy()).windows
    assert len({len(window) for window in windows}) > 1
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    states = torch.randn(*batch.ids.shape, 3, generator=torch.Generator().manual_seed(0))
    means = [row[1 : len(window) - 1].mean(0) for row, window in zip(states, windows, strict=True)]
    torch.testing.assert_close(batch.mean_states(states), torch.stack(means))


def test_the_token_behind_a_sentence_stands_for_it_where_none_is_before(encoder, toy):
    windows = [
        replace(w, ids=w.ids[1:], labelled=w.labelled - 1, starts=w.starts - 1, before=0)
        for w in read_windows(encoder, toy()).windows
    ]
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    states = batch.ids[:, :, None].float()
    last = encoder.tokenizer.sep_token_id
    assert batch.sentence_states(states).flatten().tolist() == [last] * len(windows)
