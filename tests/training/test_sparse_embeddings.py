"""Training only the embeddings that occur, where tokenizer and checkpoint differ in the padding id."""

import copy
import dataclasses
from contextlib import contextmanager

import pytest
import torch

from crosslens.encoders.inputs import read_windows
from crosslens.encoders.load import load_encoder
from crosslens.training import finetune as module
from crosslens.training.finetune import finetune
from crosslens.training.sparse_embeddings import restrict_embeddings
from gradients import assert_same_losses
from toy_architectures import fresh
from toy_trainings import FAST
from toys import word_piece


@pytest.mark.rounding
@pytest.mark.parametrize(("kind", "padding"), [("xlm-roberta", 1), ("bert", 3), ("llama", 100)])
def test_the_padding_id_of_the_checkpoint_keeps_its_row(kind, padding, toy, tmp_path, monkeypatch):
    """The row of that id is not trained, and RoBERTa's positions begin after it."""
    fresh(kind, 0, range(400), pad_token_id=padding).save_pretrained(tmp_path)
    word_piece().save_pretrained(tmp_path)
    encoder = load_encoder(tmp_path, device="cpu")
    assert (encoder.padding, encoder.model.get_input_embeddings().padding_idx) == (0, padding)
    few = dataclasses.replace(toy(), items=toy().items[:2])
    sizes, losses = [], {}
    real = module.restrict_embeddings

    @contextmanager
    def some_rows(encoder, *readings):
        with real(encoder, *readings) as restricted:
            sizes.append(len(encoder.model.get_input_embeddings().weight))
            yield restricted

    @contextmanager
    def all_rows(encoder, *readings):
        yield readings

    for rows in (some_rows, all_rows):
        monkeypatch.setattr(module, "restrict_embeddings", rows)
        seen = losses[rows] = []
        finetune(encoder, "pos", train=few, recipe=FAST, stepped=lambda _, loss, to=seen: to.append(loss))
    assert padding < sizes[0] < 200
    assert_same_losses(losses[some_rows], losses[all_rows])


def test_a_table_that_the_output_shares_is_whole(encoder, toy):
    """Where embeddings are tied, the output computes with all rows."""
    reading = read_windows(encoder, dataclasses.replace(toy(), items=toy().items[:2]))
    tied = dataclasses.replace(encoder, model=copy.deepcopy(encoder.model))
    table = tied.model.get_input_embeddings().weight
    tied.model.output = torch.nn.Linear(*reversed(table.shape), bias=False)
    with restrict_embeddings(tied, reading) as (inside,):
        assert len(tied.model.get_input_embeddings().weight) == len(table)  # another table over the vocabulary
        assert inside is reading
    tied.model.output.weight = table
    with restrict_embeddings(tied, reading) as (inside,):
        assert tied.model.get_input_embeddings().weight is tied.model.output.weight
        assert inside is reading
