"""Language models trained from graphs; where there is no GPU, recorded work is done again at each replay."""

import copy

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

from crosslens.encoders.gpu.cuda_graphs import EAGER, TrainingGraphs
from crosslens.mlm.objective import Body, prediction_loss
from crosslens.mlm.streams import next_subwords
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from graph_recorder import record_without_gpu
from toy_architectures import SETTINGS, known

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
STEPS = 12


@pytest.fixture
def replayed(monkeypatch):
    record_without_gpu(monkeypatch)


@pytest.fixture
def model(kind):
    settings = dict(SETTINGS[known(kind)])
    if kind in ("llama", "modernbert"):
        settings |= {"pad_token_id": 0}
    loader = AutoModelForCausalLM if kind == "llama" else AutoModelForMaskedLM
    torch.manual_seed(0)
    return loader.from_config(AutoConfig.for_model(kind, vocab_size=50, tie_word_embeddings=True, **settings)).to(
        DEVICE
    )


def batches(kind, step):
    """Two micro-batches, each a few sequences with the subwords to predict."""
    generator = np.random.default_rng(step)
    ids = generator.integers(5, 50, size=(6, 12))
    wanted, read, predicted = next_subwords(ids) if kind == "llama" else (ids, ids, generator.random(ids.shape) < 0.3)
    return [(None, wanted[part], read[part], predicted[part]) for part in (slice(0, 3), slice(3, 6))]


def trained(model, kind, graphs):
    """Train without dropout; return the mean loss of every step."""
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    groups = parameter_groups(model, learning_rate=1e-2, weight_decay=0.1)
    loop = Loop(model, groups, Optimiser(steps=STEPS), seed=1)
    loop.run(lambda step: batches(kind, step), lambda batch: prediction_loss(model, batch, graphs=graphs))
    return list(loop.losses)


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "electra", "modernbert", "llama"])
def test_a_language_model_trained_from_graphs_has_the_same_weights(model, kind, replayed):
    """Its embeddings are the matrix of its head too, whose gradient is added to that of the graph."""
    assert model.get_input_embeddings().weight is model.get_output_embeddings().weight
    usual = copy.deepcopy(model.eval())
    expected = trained(usual, kind, None)
    graphs = TrainingGraphs(Body(model, "float32"))
    losses = trained(model, kind, graphs)
    assert graphs.replayed == 2 * STEPS - EAGER
    assert expected[-1] < expected[0]
    assert losses == pytest.approx(expected, rel=1e-4)
    for (name, one), other in zip(model.named_parameters(), usual.named_parameters(), strict=True):
        if "key.bias" not in name:  # its gradient is rounding
            torch.testing.assert_close(one, other[1], rtol=1e-2, atol=1e-3, msg=name)
    assert "forward" not in vars(model.base_model)


@pytest.mark.parametrize("kind", ["bert"])
def test_nothing_is_recorded_where_nothing_is_gained(model, kind, monkeypatch):
    """Without a GPU; with frozen bodies, whose states need no gradient; where graphs are switched off."""
    assert (Body(model, "float32").graphs(say=print) is not None) == (DEVICE == "cuda")
    monkeypatch.setattr(Body, "device", torch.device("cuda"))
    monkeypatch.setattr("crosslens.encoders.gpu.cuda_graphs.Recorder", lambda device: None)
    monkeypatch.setattr("crosslens.mlm.objective.TrainingGraphs", lambda body, say: body)
    assert Body(model, "float32").graphs(say=print) is not None
    monkeypatch.setenv("CROSSLENS_CUDA_GRAPHS", "0")
    assert Body(model, "float32").graphs(say=print) is None
    monkeypatch.delenv("CROSSLENS_CUDA_GRAPHS")
    model.base_model.requires_grad_(False)
    assert Body(model, "float32").graphs(say=print) is None
