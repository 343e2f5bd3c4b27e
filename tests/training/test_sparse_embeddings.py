"""Training only the embeddings that occur, where tokenizer and checkpoint differ in the padding id."""

import dataclasses
from contextlib import contextmanager

import pytest

from crosslens.encoders.load import load_encoder
from crosslens.training import finetune as module
from crosslens.training.finetune import finetune
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
