"""The loss of masked and causal language modelling."""

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from crosslens.mlm.objective import prediction_loss
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
