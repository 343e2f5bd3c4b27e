"""Encoders and decoders of today, with random weights and few dimensions, through all that crosslens does with one.

Each has the published architecture with its particular settings, and a tokenizer of the published pipeline.
"""

import numpy as np
import pytest
import torch
from tokenizers import processors
from transformers import CONFIG_MAPPING

import crosslens as xl
from crosslens.corpora.parallel import load_parallel
from crosslens.data.subwords import split_words
from crosslens.encoders.load import load_encoder, save_encoder
from crosslens.encoders.states.sites import addresses, sites
from crosslens.tasks import TASKS
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.recipe import Recipe
from toy_architectures import bits, changed, fresh, inside
from toy_tokenizers import KINDS

AROUND, BEFORE, NOTHING = "<s> $A </s>", "<s> $A", ""
PAD = {"pad_token_id": 1}
LLAMA3_POSITIONS = {
    "rope_type": "llama3",
    "rope_theta": 500000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
ROWS = {
    "mmBERT": ("modernbert", "Gemma 2, mmBERT", AROUND, {"local_attention": 8, "global_attn_every_n_layers": 3}),
    "ModernBERT": ("modernbert", "RoBERTa, ModernBERT", AROUND, {"local_attention": 8}),
    "EuroBERT": ("eurobert", "Llama 3, EuroBERT", BEFORE, {}),
    "XLM-V": ("xlm-roberta", "XLM-R", AROUND, {}),
    "Glot500": ("xlm-roberta", "XLM-R, legacy", AROUND, {}),
    "mGTE": (
        "gte",
        "XLM-R",
        AROUND,
        {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 20000.0}},
    ),
    "Gemma 2": ("gemma2", "Gemma 2, mmBERT", BEFORE, {"sliding_window": 8}),
    "Gemma 3": ("gemma3_text", "Gemma 3", BEFORE, {"sliding_window": 8, "tie_word_embeddings": True}),
    "Qwen 2": ("qwen2", "Qwen", NOTHING, {"tie_word_embeddings": True}),
    "Qwen 3": ("qwen3", "Qwen", NOTHING, {"head_dim": 24}),
    "Llama 3": ("llama", "Llama 3, EuroBERT", BEFORE, {"rope_parameters": LLAMA3_POSITIONS}),
    "SmolLM 2": ("llama", "RoBERTa, ModernBERT", NOTHING, {"tie_word_embeddings": True}),
    "SmolLM 3": ("smollm3", "Llama 3, EuroBERT", NOTHING, {"no_rope_layer_interval": 2}),
}
"""Model -> model type, pipeline in `toy_tokenizers`, special tokens around a text, settings of the configuration."""

DECODERS = {"Gemma 2", "Gemma 3", "Qwen 2", "Qwen 3", "Llama 3", "SmolLM 2", "SmolLM 3"}
NO_UNKNOWN = {"EuroBERT", "Qwen 2", "Qwen 3", "Llama 3", "SmolLM 2", "SmolLM 3"}
RECIPE = Recipe(batch=6, epochs=1, learning_rate=1e-3, select="last")


@pytest.fixture(scope="module", params=ROWS)
def name(request):
    if ROWS[request.param][0] not in CONFIG_MAPPING:
        pytest.skip(f"this transformers has no {ROWS[request.param][0]} yet")
    return request.param


@pytest.fixture(scope="module")
def today(name, tmp_path_factory):
    """The model, saved and loaded; its weights are far from their initialisation."""
    kind, tokens, template, settings = ROWS[name]
    tokenizer = KINDS[tokens]()
    special = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<s>", "</s>") if token in template]
    if special:
        tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single=template, pair=f"{template} {template.replace('A', 'B')}", special_tokens=special
        )
    if name in NO_UNKNOWN:
        tokenizer.unk_token = None
    model = fresh(kind, 0, tokenizer, **PAD, **settings)
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=noise))
    folder = tmp_path_factory.mktemp("today") / "checkpoint"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_encoder(folder, device="cpu")


def test_it_is_loaded_and_reads_words_as_running_text(name, today):
    assert (today.depth, today.width, today.causal) == (3, 32, name in DECODERS)
    words = ["the", "cat", "sees", "a", "small", "dog"]
    (split,) = split_words([words], today.tokenizer)
    later = split.ids[split.starts[1] :].tolist()
    assert later == today.tokenizer.encode(" ".join(words), add_special_tokens=False)[-len(later) :]
    assert len(split) == 6


def test_its_layers_are_drawn_frozen_and_addressed(today, tmp_path):
    before = bits(today)
    drawn, frozen = xl.random_init(today, "1-2", seed=1), xl.freeze(today, "0-1")
    assert changed(before, bits(drawn)) == inside(drawn, 1, 2) == set(drawn.changes[-1].tensors)
    still = {name for name, parameter in frozen.model.named_parameters() if not parameter.requires_grad}
    assert inside(frozen, 1) < still
    assert not still & inside(frozen, 2, 3)
    places = [address for address, _ in addresses(today)]
    assert {"2.output", "1.attention.head.0-1", "3.ffn.neuron.0-47"} <= set(places)
    assert all(sites(today, place) for place in (*places, "1.attention", "2.ffn", "3"))
    save_encoder(drawn, tmp_path / "saved")
    assert load_encoder(tmp_path / "saved", device="cpu").digest == drawn.digest != today.digest


@pytest.mark.parametrize("task", TASKS.built_in)
def test_every_task_is_trained_a_step_saved_and_reloaded(today, task, toy, tmp_path):
    steps = []
    train = toy(task=task)
    model = xl.finetune(today, task, train=train, recipe=RECIPE, stepped=lambda step, loss: steps.append(loss))
    assert len(steps) == 1
    assert np.isfinite(steps).all()
    moved = changed(bits(today), bits(model.encoder))
    assert all(inside(today, layer) & moved for layer in (1, 2, 3))
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert [r.value for r in xl.evaluate(again, train)] == [r.value for r in xl.evaluate(model, train)]


def test_its_trained_states_are_replaced_and_its_layers_compared(name, today, toy, treebanks):
    model = xl.finetune(today, "pos", train=toy(), recipe=RECIPE)
    for place in ("1-2:mean", "2.attention.head.1:zero", "3.ffn.neuron.3-5:zero", "1.output:noise=1", "2:revert"):
        (record,) = xl.evaluate(xl.intervene(model, place, seed=1), toy()).filter(metric="accuracy")
        assert 0 <= record.value <= 100
    pud = load_parallel("ud/pud", data=treebanks)
    compared = xl.compare(today, pud, pairs=["en-fr"], measures=["cka"])
    values = [record.value for record in compared]
    assert len(values) == today.depth + 1
    assert np.isfinite(values).all()
    if name in DECODERS:
        ways = ({}, {"bidirectional": "all"}, {"bidirectional": "3"}, {"repeat": 2}, {"subword": "last"})
        vectors = [xl.represent(xl.read_as(today, **way), pud["en"], pooling="first").vectors for way in ways]
        assert all(np.isfinite(each).all() for each in vectors)
        assert len({each[-1].tobytes() for each in vectors}) == len(ways)
