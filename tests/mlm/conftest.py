"""Fixtures: raw text in two languages, and a masked language model."""

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from toys import SENTENCES, word_piece


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    (folder / "en.txt").write_text("\n".join(SENTENCES["en"] * 12) + "\n", "utf-8")
    (folder / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 4), "utf-8")
    return folder


@pytest.fixture(scope="module")
def masked_bert(tmp_path_factory):
    """A BERT with the head of a masked language model."""
    folder = tmp_path_factory.mktemp("masked") / "bert"
    tokenizer = word_piece()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
