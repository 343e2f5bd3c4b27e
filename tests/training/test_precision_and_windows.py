"""Training in bfloat16, and on sentences of several windows."""

import numpy as np
import pytest
import torch

from crosslens.training.predict import predict
from toy_trainings import RECIPE, run, weights


def test_bfloat16_trains_and_predicts(encoder, task, toy):
    """What the encoder computes in; the parameters, the loss and the result stay float32."""
    losses = []
    recipe = RECIPE.model_copy(update={"precision": "bfloat16", "epochs": 8, "select": "last"})
    model = run(encoder, task, toy, recipe, stepped=lambda step, loss: losses.append(loss))
    assert np.mean(losses[-4:]) < np.mean(losses[:4])
    assert all(p.dtype == torch.float32 for p in weights(model).values())
    exact = run(encoder, task, toy, RECIPE.model_copy(update={"epochs": 8, "select": "last"}))
    assert not all(torch.equal(a, b) for a, b in zip(weights(model).values(), weights(exact).values(), strict=True))
    corpus = toy(task=task)
    corpus.require_same_words(predict(model, corpus))


@pytest.mark.parametrize("task", ["pos", "parsing", "ner"])
def test_long_training_sentences_are_read_whole_and_counted(encoder, task, toy):
    corpus = toy(task=task)
    window = RECIPE.model_copy(update={"window": 12, "context": 4, "select": "last"})
    model = run(encoder, task, toy, window)
    assert model.facts["train_split_sentences"] > 0
    assert model.facts["train_words"] == corpus.words
    assert [len(s) for s in predict(model, corpus).sentences] == [len(s) for s in corpus.sentences]
