"""Every step of the loop is the one that PyTorch's AdamW, clipping and schedules would make."""

import math
import os
import pickle

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from crosslens.digests import stream_seed
from crosslens.errors import TrainingError
from crosslens.training import loop as module
from crosslens.training.distributed import Processes
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from gradients import recorded_gradients


def network():
    """In float64, so that what is equal but for rounding is equal in many digits."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 3)).double()


def data(step, size=8):
    generator = torch.Generator().manual_seed(step)
    return torch.randn(size, 4, generator=generator).double(), torch.randint(0, 3, (size,), generator=generator)


def loop_of(net, settings, *, peak=0.05, decay=0.0):
    return Loop(net, parameter_groups(net, learning_rate=peak, weight_decay=decay), settings, seed=1)


def summed(net):
    """The loss function that a loop takes."""
    return lambda item: (nn.functional.cross_entropy(net(item[0]), item[1], reduction="sum"), len(item[1]))


def by_torch(factors, *, peak=0.05, clip=None, **settings):
    """A training by torch alone; that only matrices decay is written out."""
    net = network()
    matrices, others = [net[0].weight, net[2].weight], [net[0].bias, net[1].weight, net[1].bias, net[2].bias]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, lr=peak, **settings)
    schedule = LambdaLR(adamw, [*factors, 0.0].__getitem__)
    for step in range(len(factors)):
        x, y = data(step)
        nn.functional.cross_entropy(net(x), y).backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        adamw.step()
        schedule.step()
        adamw.zero_grad()
    return net


def assert_same(net, other):
    for ours, right in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(ours, right, atol=1e-9, rtol=1e-9)


SCHEDULES = {
    "linear": [0.5, 1.0, 2 / 3, 1 / 3, 0.0],
    "inverse-sqrt": [0.5, 1.0, math.sqrt(2 / 3), math.sqrt(2 / 4), math.sqrt(2 / 5)],
    "constant": [1.0] * 5,
    "plateau": [1.0] * 5,
}
"""Five steps, of which two are the warm-up where there is one."""


@pytest.mark.rounding
@pytest.mark.parametrize("scale", [1.0, 0.25])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_training_is_that_of_torch_under_every_schedule(schedule, scale):
    net = network()
    loop = loop_of(net, Optimiser(steps=5, warmup=0.4, clip=None, schedule=schedule), decay=0.1)
    loop.scale = scale
    loop.run(lambda step: [data(step)], summed(net))
    assert_same(net, by_torch(SCHEDULES[schedule], peak=0.05 * scale))


@pytest.mark.rounding
@pytest.mark.parametrize("settings", [{"betas": (0.5, 0.7)}, {"eps": 0.1}, {"clip": 0.05}, {"clip": 1e3}], ids=str)
def test_a_training_is_that_of_torch_under_every_setting(settings):
    net = network()
    ours = {"clip": None, **{"epsilon" if name == "eps" else name: value for name, value in settings.items()}}
    loop = loop_of(net, Optimiser(steps=5, schedule="constant", **ours), decay=0.1)
    loop.run(lambda step: [data(step)], summed(net))
    assert_same(net, by_torch([1.0] * 5, **settings))


@pytest.mark.rounding
@pytest.mark.parametrize("size", [1, 2, 9])
def test_the_gradient_is_that_of_the_mean_loss_cut_to_the_norm(size):
    """What the optimiser is given: AdamW itself hardly sees how long a gradient is."""
    x, y = data(0, size)
    alone = network()
    mean = nn.functional.cross_entropy(alone(x), y)
    mean.backward()
    gradients = [parameter.grad for parameter in alone.parameters()]
    norm = float(torch.cat([gradient.flatten() for gradient in gradients]).norm())
    for clip, factor in ((None, 1.0), (2 * norm, 1.0), (norm / 3, 1 / 3)):
        net, losses = network(), []
        loop = loop_of(net, Optimiser(steps=1, clip=clip))
        with recorded_gradients() as steps:
            loop.run(lambda step: [(x, y)], summed(net), after_step=lambda _, loss, to=losses: to.append(loss))
        assert losses == [pytest.approx(float(mean.detach()))]
        by_name = dict(zip(map(id, loop._parameters), steps[0], strict=True))
        for parameter, right in zip(net.parameters(), gradients, strict=True):
            torch.testing.assert_close(by_name[id(parameter)], right * factor, atol=1e-9, rtol=2e-5)


def test_every_parameter_is_trained_once_and_only_matrices_decay():
    net = nn.ModuleDict({"words": nn.Embedding(9, 4), "body": network()})
    decaying, others = parameter_groups(net, learning_rate=0.5, weight_decay=0.1)
    assert (decaying["weight_decay"], others["weight_decay"], decaying["peak"], others["peak"]) == (0.1, 0, 0.5, 0.5)
    names = {id(parameter): name for name, parameter in net.named_parameters()}
    assert [names[id(parameter)] for parameter in decaying["params"]] == ["body.0.weight", "body.2.weight"]
    assert [names[id(parameter)] for parameter in others["params"]] == [
        "words.weight",
        "body.0.bias",
        "body.1.weight",
        "body.1.bias",
        "body.2.bias",
    ]


def test_what_a_step_does_not_use_does_not_move():
    """Neither by its weight decay nor by the momentum of the step that used it."""
    net = nn.ModuleList([nn.Linear(4, 3) for _ in range(2)]).double()
    loop = loop_of(net, Optimiser(steps=4, schedule="constant"), decay=0.1)
    kept = []
    loop.run(
        lambda step: [(0 if step else 1, data(step))],
        lambda item: summed(net[item[0]])(item[1]),
        after_step=lambda *_: kept.append(net[1].weight.detach().clone()),
    )
    assert all(torch.equal(weight, kept[0]) for weight in kept)


def test_dropout_has_a_stream_of_its_own_for_every_step_and_process(monkeypatch):
    paths = []
    monkeypatch.setattr(module, "stream_seed", lambda *path: paths.append(path) or stream_seed(*path))
    net = network()
    loop = loop_of(net, Optimiser(steps=3))
    loop.run(lambda step: [data(step)], summed(net), until=2)

    class Third(Processes):
        def sum(self, tensors):
            pass

    loop._processes = Third(2, 3)
    loop.run(lambda step: [data(step)], summed(net))
    assert paths == [(1, "dropout", 0), (1, "dropout", 1), (1, "dropout", 2, 2)]


def test_the_next_step_is_prepared_before_the_parameters_move():
    net = network()
    loop = loop_of(net, Optimiser(steps=5))
    prepared, before = [], []

    def batches(step):
        before.append(net[0].weight.detach().clone())
        return [data(step)]

    def meanwhile(step):
        assert torch.equal(net[0].weight, before[-1])
        assert net[0].weight.grad is not None
        prepared.append((loop.step, step))

    loop.run(batches, summed(net), until=3, meanwhile=meanwhile)
    assert prepared == [(0, 1), (1, 2)]  # nothing for a step that is not taken
    loop.run(batches, summed(net), meanwhile=meanwhile)
    assert prepared[2:] == [(3, 4)]
    assert len(before) == 5


def test_processes_add_up_counts_of_any_size():
    """float32 has no odd number beyond 2 to the power of 24."""

    class Twice(Processes):
        def sum(self, tensors):
            for tensor in tensors:
                tensor.mul_(2)

    net, losses = nn.Linear(1, 1, bias=False), []
    loop = loop_of(net, Optimiser(steps=1))
    loop._processes = Twice(0, 2)
    count = 2**24 + 1
    loop.run(
        lambda step: [None],
        lambda item: (net.weight.sum() * 0 + 2.0**24, count),
        after_step=lambda _, loss: losses.append(loss),
    )
    assert losses == [2**24 / count]


def test_the_last_hundred_losses_are_kept_and_five_are_named(tmp_path):
    loop = loop_of(network(), Optimiser(steps=9))
    means = []
    loop.losses.extend(map(float, range(150)))
    loop.run(lambda step: [data(step)], summed(loop.module), until=3, after_step=lambda _, loss: means.append(loss))
    assert list(loop.losses) == [*map(float, range(53, 150)), *means]
    loop.save(tmp_path / "state.pt")
    again = loop_of(network(), Optimiser(steps=9))
    again.load(tmp_path / "state.pt")
    assert again.losses == loop.losses
    again.run(lambda step: [data(step)], summed(again.module), until=4)
    assert list(again.losses)[:-1] == list(loop.losses)[1:]
    last = ", ".join(f"{loss:.4g}" for loss in list(again.losses)[-5:])
    for broken, step, steps, named in ((again, 5, 9, last), (loop_of(network(), Optimiser(steps=7)), 1, 7, "none")):
        with pytest.raises(TrainingError) as refused:
            broken.run(lambda step: [data(step)], lambda item, of=broken: (summed(of.module)(item)[0] * math.inf, 1))
        assert refused.value.message == f"the loss is inf at step {step} of {steps}; last losses: {named}"


class Trap:
    """What a pickle can hold: an instruction that runs when the file is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_state_that_would_run_code_is_refused_unread(tmp_path):
    torch.save({"identity": "", "trap": Trap(tmp_path / "sprung")}, tmp_path / "state.pt", pickle_module=pickle)
    with pytest.raises(TrainingError, match=r"cannot resume from .*state\.pt: \w"):
        loop_of(network(), Optimiser(steps=1)).load(tmp_path / "state.pt")
    assert not (tmp_path / "sprung").exists()


def test_what_the_system_refuses_to_read_is_not_called_damaged(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module.torch, "load", refuse)
    with pytest.raises(PermissionError):
        loop_of(network(), Optimiser(steps=1)).load(tmp_path / "state.pt")
