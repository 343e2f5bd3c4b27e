"""The loss of masked and causal language modelling."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModelForMaskedLM, BertConfig, BertForMaskedLM

from crosslens.mlm.objective import Best, perplexities, prediction_loss
from toys import word_piece


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "distilbert", "electra", "deberta-v2", "modernbert", "xlm"])
def test_the_head_reads_only_what_is_hidden(kind):
    """Whatever the architecture calls it: the loss is that of all logits, at the hidden places."""
    from transformers import AutoConfig

    from toy_architectures import SETTINGS

    tokenizer = word_piece()
    config = AutoConfig.for_model(kind, vocab_size=len(tokenizer) + 4, **SETTINGS[kind])
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_config(config).eval()
    ids = np.random.default_rng(0).integers(5, 40, size=(3, 12))
    chosen = np.random.default_rng(1).random(ids.shape) < 0.3
    with torch.inference_mode():
        logits = model(input_ids=torch.from_numpy(ids)).logits
        wanted = torch.nn.functional.cross_entropy(
            logits[torch.from_numpy(chosen)], torch.from_numpy(ids[chosen]), reduction="sum"
        )
        found, count = prediction_loss(model, (None, ids, ids, chosen))
    assert count == chosen.sum()
    assert float(found) == pytest.approx(float(wanted), rel=1e-5)
    assert model(input_ids=torch.from_numpy(ids)).logits.shape[:2] == (3, 12)  # nothing is left behind


def test_perplexity_is_that_of_all_subwords_however_they_are_batched():
    """A batch with few subwords to predict does not count as much as one with many; dropout is off."""
    from toy_architectures import SETTINGS

    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig(vocab_size=40, **SETTINGS["bert"] | {"initializer_range": 0.5})).train()
    ids = np.random.default_rng(0).integers(5, 40, size=(6, 12))
    chosen = np.random.default_rng(1).random(ids.shape) < np.array([[0.1]] + [[0.9]] * 5)
    parts = [slice(0, 1), slice(1, 2), slice(2, 6)]
    cut = perplexities(model, {"en": [(None, ids[part], ids[part], chosen[part]) for part in parts]})
    assert model.training
    with torch.inference_mode():
        total, count = prediction_loss(model.eval(), (None, ids, ids, chosen))
    assert cut == {"en": pytest.approx(math.exp(float(total) / count), rel=1e-5)}


def test_the_mean_that_selects_is_geometric():
    """A language of many subwords does not decide alone: 10 and 1000 are better than 100 and 200."""
    model = nn.Linear(1, 1)
    first = Best().after(1, {"en": 10.0, "fr": 1000.0}, model, "mean")
    assert first.score == pytest.approx(100)
    assert first.after(2, {"en": 100.0, "fr": 200.0}, model, "mean") is first
    french = Best().after(1, {"en": 10.0, "fr": 1000.0}, model, "fr")
    assert french.after(2, {"en": 100.0, "fr": 200.0}, model, "fr").step == 2
