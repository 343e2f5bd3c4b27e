"""Perplexities against transformers alone: blocks, masks and cross-entropy are made here once more."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from crosslens.digests import stream_seed
from crosslens.mlm.adapt import adapt
from crosslens.mlm.pretrain import pretrain
from crosslens.mlm.pretrain_settings import Pretraining, Validation, Vocabulary

LENGTH, HELD_OUT, BATCH, SEED = 16, 12, 4, 5
SETTINGS = {
    "corpora": {"en": "en.txt", "fr": "fr.txt"},
    "vocabulary": Vocabulary(size=120),
    "shape": {"layers": 2, "width": 32, "heads": 2, "positions": LENGTH, "initializer_range": 0.3},
    "validation": Validation(lines=HELD_OUT, every=2, select="mean"),
    "steps": 5,
    "batch": BATCH,
    "seed": SEED,
}


def blocks(lines, tokenizer):
    ids = [i for line in lines for i in tokenizer(line)["input_ids"][1:]]  # without [CLS], with [SEP]
    whole = len(ids) // (LENGTH - 2) * (LENGTH - 2)
    text = torch.tensor(ids[:whole]).view(-1, LENGTH - 2)
    first, last = (torch.full((len(text), 1), i) for i in (tokenizer.cls_token_id, tokenizer.sep_token_id))
    return torch.hstack([first, text, last])


def masked_perplexity(model, tokenizer, ids, *streams):
    """Fifteen per cent are predicted: of those, eighty are masked and ten replaced by any ordinary subword.

    Args:
        streams: random generators, one for each batch.
    """
    specials = np.array(tokenizer.all_special_ids)
    ordinary = np.setdiff1d(np.arange(len(tokenizer)), specials)
    losses = []
    for gold, generator in zip(np.array_split(ids.numpy(), -(-len(ids) // BATCH)), streams, strict=True):
        chosen = (generator.random(gold.shape) < 0.15) & ~np.isin(gold, specials)
        kind = generator.random(gold.shape)
        other = ordinary[generator.integers(len(ordinary), size=gold.shape)]
        seen = np.where(chosen & (kind < 0.8), tokenizer.mask_token_id, gold)
        seen = np.where(chosen & (kind >= 0.8) & (kind < 0.9), other, seen)
        with torch.no_grad():
            logits = model(input_ids=torch.from_numpy(seen)).logits
        losses.append(
            functional.cross_entropy(logits[chosen].double(), torch.from_numpy(gold[chosen]), reduction="none")
        )
    return math.exp(torch.cat(losses).mean())


def causal_perplexity(model, ids):
    with torch.no_grad():
        return math.exp(model(input_ids=ids, labels=ids).loss)


@pytest.mark.parametrize("objective", ["masked", "causal"])
def test_the_perplexity_of_a_pretrained_model_is_what_transformers_computes(objective, texts, tmp_path):
    settings = Pretraining(**SETTINGS, objective=objective)
    facts = pretrain(settings, tmp_path / "out", base=texts, device="cpu")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    kind = AutoModelForMaskedLM if objective == "masked" else AutoModelForCausalLM
    model = kind.from_pretrained(tmp_path / "out").eval()
    for language in ("en", "fr"):
        ids = blocks((texts / f"{language}.txt").read_text().splitlines()[-HELD_OUT:], tokenizer)
        if objective == "causal":
            expected = causal_perplexity(model, ids)
        else:
            one = np.random.default_rng(stream_seed(SEED, "held-out", language))
            expected = masked_perplexity(model, tokenizer, ids, *[one] * -(-len(ids) // BATCH))
        assert facts[f"perplexity {language}"] == pytest.approx(expected, rel=1e-5)


def test_perplexities_before_and_after_an_adaptation_are_what_transformers_computes(masked_bert, texts, tmp_path):
    settings = {"epochs": 1, "length": LENGTH, "batch": BATCH, "learning_rate": 1e-3, "seed": SEED, "held_out": 0.2}
    facts = adapt(masked_bert, {"fr": str(texts / "fr.txt")}, tmp_path / "out", settings=settings, device="cpu")
    lines = (texts / "fr.txt").read_text().splitlines()
    for folder, name in ((masked_bert, "perplexity before fr"), (tmp_path / "out", "perplexity fr")):
        tokenizer = AutoTokenizer.from_pretrained(folder)
        ids = blocks(lines[-round(0.2 * len(lines)) :], tokenizer)
        streams = [
            np.random.default_rng(stream_seed(SEED, "held-out", number)) for number in range(-(-len(ids) // BATCH))
        ]
        model = AutoModelForMaskedLM.from_pretrained(folder).eval()
        assert facts[name] == pytest.approx(masked_perplexity(model, tokenizer, ids, *streams), rel=1e-5)
