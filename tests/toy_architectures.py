"""A small configuration of every supported architecture, and what the tests compare of its weights."""

import copy

import pytest
import torch
import transformers
from transformers import CONFIG_MAPPING, AutoConfig, AutoModel

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.families import FAMILIES
from toys import word_piece

BERT = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 48}
DECODER = {**BERT, "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 64}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
SETTINGS = {
    "bert": {**BERT, "initializer_range": 0.1},
    "roberta": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "xlm-roberta": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "camembert": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "xlm-roberta-xl": {**BERT, "pad_token_id": 0, "max_position_embeddings": 70},
    "distilbert": {"dim": 32, "n_layers": 3, "n_heads": 2, "hidden_dim": 48},
    "electra": {**BERT, "embedding_size": 16},
    "deberta": {**BERT, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "deberta-v2": {
        **BERT,
        "relative_attention": True,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pos_att_type": ["p2c", "c2p"],
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "position_buckets": 16,
    },
    "modernbert": {**BERT, **SPECIAL, "cls_token_id": 2, "sep_token_id": 3},
    "rembert": {**BERT, "input_embedding_size": 16, "output_embedding_size": 20},
    "mpnet": {**BERT, "pad_token_id": 0},
    "nomic_bert": BERT,
    "jina_embeddings_v3": {**BERT, "pad_token_id": 0},
    "gte": {**BERT, "pad_token_id": 0},
    "eurobert": {**DECODER, **SPECIAL, "mask_token_id": 4},
    "xlm": {"emb_dim": 32, "n_layers": 3, "n_heads": 2, "pad_index": 0},
    "t5": {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 2, "d_kv": 16},
    "mt5": {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 2, "d_kv": 16},
    "umt5": {"d_model": 32, "d_ff": 48, "num_layers": 3, "num_heads": 2, "d_kv": 16},
    "bilstm": {"hidden_size": 32, "num_hidden_layers": 3, "character_size": 8, "character_hidden": 8, "word_size": 8},
    "neomme": {**DECODER, **SPECIAL, "num_attention_heads": 2, "num_key_value_heads": 2},
    "xlnet": {"d_model": 32, "n_layer": 3, "n_head": 2, "d_inner": 48, "d_head": 16, "pad_token_id": 0},
    "llama": {**DECODER, **SPECIAL},
    "qwen2": {**DECODER, **SPECIAL},
    "qwen3": {**DECODER, **SPECIAL},
    "gemma2": {**DECODER, **SPECIAL},
    "gemma3_text": {**DECODER, **SPECIAL},
    "smollm3": {**DECODER, **SPECIAL, "no_rope_layer_interval": 2},
}


def known(kind):
    """The kind of architecture, where this version of transformers has it; else the test is skipped."""
    if kind not in CONFIG_MAPPING:
        pytest.skip(f"this transformers has no {kind} yet")
    return kind


def fresh(kind, seed, tokenizer, **settings):
    config = AutoConfig.for_model(
        known(kind), vocab_size=len(tokenizer) + 4, **copy.deepcopy(SETTINGS[kind]) | settings
    )
    loader = getattr(transformers, FAMILIES[kind].loader)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (loader.from_config if loader is AutoModel else loader)(config)


def trained(kind):
    """An encoder of a kind, in training mode."""
    tokenizer = word_piece()
    return Encoder(fresh(kind, 0, tokenizer).train(), tokenizer, FAMILIES[kind], kind)


def bits(encoder):
    return {name: parameter.detach().clone() for name, parameter in encoder.model.named_parameters()}


def tagged():
    sentences = Sentence(("a", "cat"), ("DET", "NOUN")), Sentence(("the", "dog", "."), ("DET", "NOUN", "X"))
    return Corpus(sentences, "c", "en")


def changed(before, after):
    return {name for name in before if not torch.equal(before[name], after[name])}


def inside(encoder, *layers):
    wanted = {id(p) for layer in layers for p in encoder.own(layer).values()}
    return {name for name, p in encoder.model.named_parameters() if id(p) in wanted}


IDS = torch.tensor([[2, 6, 7, 8, 3], [2, 9, 3, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
