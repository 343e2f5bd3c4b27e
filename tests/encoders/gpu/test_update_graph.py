"""Recorded updates against torch's clipping and AdamW; without a GPU, recorded work is done at each replay."""

import copy

import pytest
import torch
from torch import nn

import crosslens as xl
from crosslens.encoders.gpu import cuda_graphs, update_graph
from crosslens.encoders.gpu.update_graph import UpdateGraph
from crosslens.training import loop
from crosslens.training.recipe import Recipe

HAS_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if HAS_GPU else "cpu")
RATES = [0.01, 0.002]


class Later:
    """A recorder that works without a GPU: it does the work at each replay, and not when it is recorded."""

    def __init__(self, device):
        assert device == torch.device("cpu")

    def record(self, work):
        return work


@pytest.fixture(autouse=True)
def recorder(monkeypatch):
    if not HAS_GPU:
        monkeypatch.setattr(update_graph, "Recorder", Later)


@pytest.fixture
def module():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(40, 30), nn.Linear(30, 3), nn.Linear(3, 2)).to(DEVICE)


def groups(module):
    head = list(module[1].parameters())
    encoder = [p for p in module.parameters() if all(p is not other for other in head)]
    return [{"params": encoder, "weight_decay": 0.1}, {"params": head, "weight_decay": 0.0}]


def gradients_of(module, step):
    """Gradients as a step gives them: the third layer has none in some steps."""
    generator = torch.Generator().manual_seed(step)
    drawn = [torch.randn(p.shape, generator=generator).to(DEVICE) * 10 ** (step % 3 - 1) for p in module.parameters()]
    return [*drawn[:4], None, None] if step == 9 else drawn


def reference(module, steps, clip):
    """The parameters and the norms of the summed gradients, computed by torch's own functions."""
    adamw, norms = torch.optim.AdamW(groups(module), lr=0.0, foreach=True), []
    for step in range(steps):
        for p, gradient in zip(module.parameters(), gradients_of(module, step), strict=True):
            p.grad = None if gradient is None else gradient / (step + 2)
        norms.append(
            float(nn.utils.clip_grad_norm_(module.parameters(), torch.inf if clip is None else clip)) * (step + 2)
        )
        for group, rate in zip(adamw.param_groups, RATES, strict=True):
            group["lr"] = rate * (step + 1)
        adamw.step()
    return [p.detach().clone() for p in module.parameters()], norms


@pytest.mark.parametrize("clip", [1.0, None])
def test_updates_are_those_of_torch(module, clip):
    """Of gradients that stay where they are, but those of the second layer, which are new tensors in every step."""
    steps = 14
    expected, wanted = reference(copy.deepcopy(module), steps, clip)
    adamw = torch.optim.AdamW(groups(module), lr=0.0, fused=True)
    update = UpdateGraph(adamw, clip=clip, device=DEVICE)
    memory = {p: torch.empty_like(p) for p in module.parameters()}
    norms = []
    for step in range(steps):
        for place, (p, gradient) in enumerate(zip(module.parameters(), gradients_of(module, step), strict=True)):
            if gradient is None or place in (2, 3):
                p.grad = gradient
            else:
                p.grad = memory[p].copy_(gradient)
        norms.append(float(update(step + 2, [rate * (step + 1) for rate in RATES])))
        adamw.zero_grad(set_to_none=True)
    assert norms == pytest.approx(wanted, rel=1e-5)
    for one, other in zip(module.parameters(), expected, strict=True):
        torch.testing.assert_close(one.detach(), other, rtol=1e-5, atol=1e-6)
    assert update.replayed == steps - 2  # all but the first, and the one in which the third layer has no gradient


def test_gradients_in_other_memory_at_every_step_are_not_recorded(module):
    adamw = torch.optim.AdamW(groups(module), lr=0.0, fused=True)
    update = UpdateGraph(adamw, clip=1.0, device=DEVICE)
    kept = []
    for step in range(4):
        for p, gradient in zip(module.parameters(), gradients_of(module, step), strict=True):
            p.grad = gradient
        kept.append([p.grad for p in module.parameters()])
        update(1, RATES)
    assert update.replayed == 0


def test_an_update_that_cannot_be_recorded_is_computed(module, monkeypatch):
    class Failing(Later):
        def __init__(self, device):
            pass

        def record(self, work):
            raise RuntimeError("operation not permitted")

    monkeypatch.setattr(update_graph, "Recorder", Failing)
    expected, wanted = reference(copy.deepcopy(module), 5, 1.0)
    adamw = torch.optim.AdamW(groups(module), lr=0.0, fused=True)
    update = UpdateGraph(adamw, clip=1.0, device=DEVICE)
    memory = {p: torch.empty_like(p) for p in module.parameters()}
    norms = []
    for step in range(5):
        for p, gradient in zip(module.parameters(), gradients_of(module, step), strict=True):
            p.grad = memory[p].copy_(gradient)
        norms.append(float(update(step + 2, [rate * (step + 1) for rate in RATES])))
    assert norms == pytest.approx(wanted, rel=1e-5)
    for one, other in zip(module.parameters(), expected, strict=True):
        torch.testing.assert_close(one.detach(), other, rtol=1e-5, atol=1e-6)
    assert update.replayed == 0


@pytest.mark.skipif(not HAS_GPU, reason="needs a GPU")
def test_a_fine_tuning_with_recorded_updates_gives_the_same_weights(tiny_bert, treebanks, monkeypatch):
    made = []

    def recorded(*args, **options):
        made.append(UpdateGraph(*args, **options))
        return made[-1]

    monkeypatch.setattr(loop, "UpdateGraph", recorded)
    encoder = xl.load_encoder(tiny_bert, device="cuda")
    toy = xl.load_corpus("ud/en_toy:train", data=treebanks)
    recipe = Recipe(batch=4, epochs=4 * cuda_graphs.EAGER, select="last", encoder_dropout="off", learning_rate=1e-3)
    model = xl.finetune(encoder, "pos", train=toy, recipe=recipe)
    assert made[0].replayed > 4
    monkeypatch.setenv("CROSSLENS_CUDA_GRAPHS", "0")
    usual = xl.finetune(encoder, "pos", train=toy, recipe=recipe)
    assert len(made) == 1
    for (name, one), other in zip(
        model.encoder.model.named_parameters(), usual.encoder.model.parameters(), strict=True
    ):
        if "key.bias" not in name:  # its gradient is rounding
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4, msg=name)
