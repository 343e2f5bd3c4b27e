"""A head, a neuron or a layer that alone carries a feature: its ablation costs most, and random controls cost nothing.

The feature is the difference of two coordinates of the states. Nothing writes it but the planted part: in all others
the weights that write the two coordinates are zero, and layer normalisation keeps a difference of 0 at 0 and the sign
of any other. A tag says whether it is positive, so the model is right about every word while the planted part works.
"""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from crosslens.training.predict import predict
from crosslens.training.recipe import find_recipe
from toys import SENTENCES

LAYER, HEAD, NEURON = 2, 1, 17
HIGH, LOW = 3, 8
"""The two coordinates."""


@pytest.fixture(scope="module")
def tagger(encoder, toy):
    recipe = find_recipe("small", "pos", {"epochs": 1, "batch": 2})
    return finetune(encoder, "pos", train=toy("train"), recipe=recipe, seed=1)


@pytest.fixture(scope="module")
def words():
    known = sorted({word for line in SENTENCES["en"] for word in line.split()})
    generator = np.random.default_rng(0)
    sentences = [tuple(generator.choice(known, size=6)) for _ in range(40)]
    return Corpus(tuple(Sentence(each, upos=("NOUN",) * 6) for each in sentences), "words", "en")


def planted(tagger, words, *, part):
    """A tagger whose feature is written by one head or neuron of `LAYER`, and the words with its tags."""
    model = copy.deepcopy(tagger.encoder.model)
    with torch.no_grad():
        for table in model.embeddings.modules():
            if isinstance(table, torch.nn.Embedding):
                table.weight[:, LOW] = table.weight[:, HIGH]
        for norm in (module for module in model.modules() if isinstance(module, torch.nn.LayerNorm)):
            norm.weight[LOW], norm.bias[LOW] = norm.weight[HIGH].clone(), norm.bias[HIGH].clone()
        for layer in model.encoder.layer:
            for writer in (layer.attention.output.dense, layer.output.dense):
                for coordinate in (HIGH, LOW):
                    writer.weight[coordinate], writer.bias[coordinate] = 0, 0
        layer = model.encoder.layer[LAYER - 1]
        if part == "neuron":
            writer = layer.output.dense
            writer.weight[HIGH, NEURON] = 3
        else:
            writer, size = layer.attention.output.dense, model.config.hidden_size // model.config.num_attention_heads
            writer.weight[HIGH, HEAD * size : (HEAD + 1) * size] = torch.linspace(-3, 3, size)
        head = copy.deepcopy(tagger.head)
        head.classifier.weight.zero_()
        head.classifier.bias.fill_(-1e6)
        head.classifier.bias[:2] = 0
        head.classifier.weight[1, HIGH], head.classifier.weight[1, LOW] = 1, -1
    carried = replace(tagger, encoder=replace(tagger.encoder, model=model), head=head)
    written = []
    hook = writer.register_forward_hook(lambda *call: written.append(call[-1][..., HIGH].flatten()))
    predict(carried, words)
    hook.remove()
    with torch.no_grad():
        writer.bias[HIGH] = -torch.cat(written).median()
    tagged = predict(carried, words)
    shares = np.mean([tag == carried.labels[1] for sentence in tagged.sentences for tag in sentence.upos])
    assert 0.2 < shares < 0.8  # the feature tells words apart
    return carried, tagged


def cost(model, tagged, *interventions):
    """Points that interventions cost the mean tag; 0 for none."""
    ablated = intervene(model, *interventions, seed=1) if interventions else model
    return 100 - evaluate(ablated, tagged).filter(metric="accuracy")[0].value


def others(costs, place):
    return {at: cost for at, cost in costs.items() if at != place}


def test_the_head_that_alone_carries_the_feature_ranks_first(tagger, words):
    model, tagged = planted(tagger, words, part="head")
    assert cost(model, tagged) == 0
    heads = [(layer, head) for layer in range(1, 5) for head in range(2)]
    zeroed = {(layer, head): cost(model, tagged, f"{layer}.attention.head.{head}:zero") for layer, head in heads}
    assert zeroed[LAYER, HEAD] > 20
    assert max(others(zeroed, (LAYER, HEAD)).values()) < zeroed[LAYER, HEAD] / 2
    noised = {(layer, head): cost(model, tagged, f"{layer}.attention.head.{head}:noise=1") for layer, head in heads}
    for costs in (zeroed, noised):  # beside it and above nothing writes the feature, whatever is done there
        assert {cost for (layer, head), cost in costs.items() if layer >= LAYER and (layer, head) != (LAYER, HEAD)} == {
            0
        }
    assert max(others(noised, (LAYER, HEAD)).values()) < zeroed[LAYER, HEAD] / 2


def test_the_neuron_that_alone_carries_the_feature_ranks_first(tagger, words):
    model, tagged = planted(tagger, words, part="neuron")
    zeroed = {
        neuron: cost(model, tagged, f"{LAYER}.ffn.neuron.{neuron}:zero") for neuron in range(NEURON - 8, NEURON + 8)
    }
    assert zeroed[NEURON] > 20
    assert set(others(zeroed, NEURON).values()) == {0}
    assert {cost(model, tagged, f"{LAYER}.ffn.neuron.{neuron}:noise=1") for neuron in (0, 5, 40)} == {0}


@pytest.mark.parametrize("part", ["head", "neuron"])
def test_the_layer_that_alone_writes_the_feature_ranks_first(tagger, words, part):
    model, tagged = planted(tagger, words, part=part)
    zeroed = {layer: cost(model, tagged, f"{layer}:zero") for layer in range(1, 5)}
    assert max(zeroed, key=zeroed.get) == LAYER
    assert zeroed[LAYER] > 20
    assert {zeroed[layer] for layer in range(LAYER + 1, 5)} == {0}
