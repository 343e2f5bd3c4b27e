"""Estimated memory of a training step: what the forward pass keeps, and the peaks of whole trainings."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from crosslens.encoders.freeze import freeze
from crosslens.encoders.models.adapters import add_lora, begin_update, copy_to_train
from crosslens.encoders.models.held_weights import hold_in_bfloat16
from crosslens.encoders.models.lora import Lora
from crosslens.encoders.models.quantize import Quantize
from crosslens.training.memory import estimate as memory
from crosslens.training.memory.estimate import training_memory
from crosslens.training.recipe import Recipe
from toy_architectures import SETTINGS, trained
from toy_trainings import RECIPE

KINDS = sorted(set(SETTINGS) - {"xlm", "bilstm"})
ROWS, LENGTH = 4, 40


def is_linear(module):
    return isinstance(module, nn.Linear)


def kept(encoder):
    """Bytes that a forward pass over a padded batch keeps for the backward pass, on the CPU."""
    known = {parameter.data_ptr() for parameter in encoder.model.parameters()}
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    ids = torch.ones((ROWS, LENGTH), dtype=torch.int64)
    mask = torch.ones_like(ids)
    mask[1, LENGTH // 2 :] = 0
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        encoder.states(ids, mask)
    return sum(sizes.values())


@pytest.mark.parametrize("kind", KINDS)
def test_activations_are_what_a_forward_pass_keeps(kind):
    encoder = trained(kind)
    estimate = training_memory(encoder, Recipe(batch=ROWS), length=LENGTH)
    assert estimate.activations == pytest.approx(kept(encoder), rel=0.15)


def test_parts_count_what_is_trained():
    encoder = trained("bert")
    numbers = sum(parameter.numel() for parameter in encoder.model.parameters())
    fixed = freeze(encoder, "0-2")
    whole, frozen = (training_memory(each, RECIPE, length=9) for each in (encoder, fixed))
    assert whole.gradients == 4 * numbers
    assert whole.optimiser == 8 * numbers
    assert whole.weights >= 4 * numbers
    assert frozen.weights == whole.weights
    assert (
        frozen.optimiser
        == 2 * frozen.gradients
        == 8 * sum(p.numel() for p in fixed.model.parameters() if p.requires_grad)
    )
    assert frozen.activations < whole.activations
    parts = (whole.weights, whole.gradients, whole.optimiser, whole.activations, whole.working)
    assert whole.peak == sum(parts)
    assert all(parameter.device.type == "cpu" for parameter in encoder.model.parameters())


def test_weights_held_in_bfloat16_take_half_the_memory():
    encoder = trained("bert")
    with torch.no_grad():
        for parameter in encoder.model.parameters():
            parameter.copy_(parameter.bfloat16())
    encoder.model.pooler = None
    fixed = freeze(encoder, f"0-{encoder.depth}")
    plain = training_memory(fixed, Recipe(batch=8, precision="bfloat16"), length=9)
    linear = [module.weight.nbytes for module in fixed.model.modules() if isinstance(module, nn.Linear)]
    hold_in_bfloat16(fixed.model)
    held = training_memory(fixed, Recipe(batch=8, precision="bfloat16"), length=9)
    assert plain.weights - held.weights == sum(linear) // 2 + sum(linear)  # and no copy of them in bfloat16
    assert dataclasses.replace(held, weights=plain.weights) == plain


def test_after_a_low_rank_update_there_are_copies_of_the_weights():
    pytest.importorskip("peft")
    encoder = copy_to_train(add_lora(trained("bert"), 4))
    begin_update(encoder, seed=1)
    small = training_memory(encoder, Recipe(batch=1), length=2)
    names = encoder.condition.find(Lora).targets(trained("bert"))
    assert small.merged == sum(trained("bert").model.get_submodule(name).weight.nbytes for name in names) > 0
    assert small.peak == small.weights + small.gradients + small.optimiser + small.merged
    large = training_memory(encoder, Recipe(batch=64), length=64)
    assert large.peak == large.weights + large.gradients + large.optimiser + large.activations + large.working


def test_weights_in_eight_bits_take_a_quarter_and_one_at_a_time_is_float32():
    encoder = freeze(trained("bert"), "0-3")
    held = Quantize(quantize="int8").apply(encoder, seed=0)
    numbers = [module.weight.numel() for layer in encoder.layers for module in layer.modules() if is_linear(module)]
    rows = [len(module.weight) for layer in encoder.layers for module in layer.modules() if is_linear(module)]
    for precision, made in (("float32", 4), ("bfloat16", 6)):
        whole, small = (training_memory(each, Recipe(precision=precision), length=9) for each in (encoder, held))
        copies = sum(numbers) * 4 if precision == "bfloat16" else 0
        assert whole.weights - small.weights == 3 * sum(numbers) - 4 * sum(rows) + copies
        assert (small.dense, whole.dense) == (made * max(numbers), 0)
        assert small.peak - small.weights == whole.peak - whole.weights + small.dense
        assert small.activations == whole.activations


def test_a_low_rank_update_of_weights_in_eight_bits_needs_no_copies():
    pytest.importorskip("peft")
    encoder = copy_to_train(add_lora(Quantize(quantize="int8").apply(trained("bert"), seed=0), 4))
    begin_update(encoder, seed=1)
    assert training_memory(encoder, Recipe(batch=1), length=2).merged == 0


def test_batches_windows_and_checkpointing_change_activations():
    encoder = trained("bert")

    def activations(length=20, **settings):
        return training_memory(encoder, Recipe(**{"batch": 8, **settings}), length=length).activations

    assert activations(batch=16) == pytest.approx(2 * activations(), rel=0.05)
    assert activations(micro_batch=4) == activations(batch=4)
    assert activations(length=40) > 2 * activations()
    assert activations(gradient_checkpointing="layers") < 0.7 * activations()
    assert activations(precision="bfloat16") < activations()


@pytest.mark.parametrize("quantize", ["none", "int8"])
def test_a_smaller_micro_batch_needs_its_share(quantize):
    encoder = trained("bert") if quantize == "none" else Quantize(quantize=quantize).apply(trained("bert"), seed=0)
    whole, half = (training_memory(encoder, Recipe(batch=batch), length=20) for batch in (8, 4))
    assert dataclasses.astuple(whole.of_share(0.5)) == pytest.approx(dataclasses.astuple(half), rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rough_count_spares_no_estimate_that_would_warn(kind):
    """Where free memory is just short of what the training needs beside its weights."""
    encoder, recipe = trained(kind), Recipe(batch=16)
    estimate = training_memory(encoder, recipe, length=LENGTH)
    assert memory._roughly(encoder, 16, LENGTH) >= memory.SMALL * (estimate.peak - estimate.weights)


def test_with_checkpointing_the_states_of_each_layer_and_all_of_a_single_layer_are_kept():
    encoder = trained("bert")

    def activations(checkpointing):
        recipe = Recipe(batch=ROWS, gradient_checkpointing=checkpointing)
        return training_memory(encoder, recipe, length=LENGTH).activations

    states = 4 * ROWS * LENGTH * encoder.width
    without_layers = activations("layers") - encoder.depth * states - activations("off") // encoder.depth
    assert 0 < without_layers < activations("off") / encoder.depth  # the embeddings


def test_dropout_keeps_what_it_left_out():
    encoder = trained("bert")
    on, off = (
        training_memory(encoder, Recipe(batch=ROWS, encoder_dropout=dropout), length=LENGTH).activations
        for dropout in ("checkpoint", "off")
    )
    assert off < on


def test_an_architecture_that_needs_numbers_has_no_estimate():
    assert training_memory(trained("xlm"), RECIPE, length=9) is None


PEAK = """
import json, resource, sys
from contextlib import nullcontext
from pathlib import Path
import torch
from transformers import BertConfig, BertModel
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.families import FAMILIES
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.models.held_weights import hold_in_int8
from crosslens.encoders.models.int8_weight import Int8Weight
from crosslens.training.memory.recompute import recomputed
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from crosslens.training.memory.estimate import training_memory
from crosslens.training.recipe import Recipe

class Tokenizer:
    pad_token_id, model_max_length = 0, 512

torch.set_num_threads(1)
recipe, length = Recipe(**json.loads(sys.argv[1])), 128
shape = {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 2048}
model = BertModel(BertConfig(vocab_size=1000, **shape), add_pooling_layer=False).train()
encoder = Encoder(model, Tokenizer(), FAMILIES["bert"], "bert")
encoder = InPrecision(precision=recipe.precision).apply(encoder, seed=0)
if "int8" in sys.argv:
    hold_in_int8(encoder.layers, model)
    for parameter in model.parameters():
        parameter.requires_grad_(not isinstance(parameter, Int8Weight))
estimate = training_memory(encoder, recipe, length=length)
ids = torch.ones((recipe.batch, length), dtype=torch.int64)
loss = lambda part: (encoder.states(part, torch.ones_like(part)).square().sum(), len(part))
loss(ids[:1, :16])[0].backward()  # libraries are loaded
model.zero_grad()
before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
loop = Loop(model, parameter_groups(model, learning_rate=1e-4, weight_decay=0.0), Optimiser(steps=2), seed=1)
with recomputed(encoder) if recipe.gradient_checkpointing == "layers" else nullcontext():
    loop.run(lambda step: ids.split(recipe.micro_batch or recipe.batch), loss)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
there = sum(parameter.nbytes for parameter in model.parameters())
print(json.dumps([estimate.peak, after - before + there]))
"""
SETTINGS_MEASURED = [
    {},
    {"micro_batch": 2},
    {"gradient_checkpointing": "layers"},
    {"precision": "bfloat16"},
]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's account of memory")
@pytest.mark.parametrize("weights", ["float32", "int8"])
@pytest.mark.parametrize("settings", SETTINGS_MEASURED, ids=str)
def test_the_estimate_is_near_the_measured_peak(settings, weights):
    words = [sys.executable, "-c", PEAK, json.dumps({"batch": 8, **settings}), weights]
    without_holes = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}  # freed blocks are the system's again at once
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=without_holes)
    estimated, measured = json.loads(done.stdout)
    print(estimated, measured)
    assert 0.75 < estimated / measured < 1.25
