"""The last losses of a training, whose mean its records report."""

import torch
from torch import nn

from crosslens.training.loop import Loop, Optimiser, parameter_groups


def make():
    net = nn.Linear(2, 1)
    nn.init.ones_(net.weight)
    nn.init.zeros_(net.bias)
    groups = parameter_groups(net, learning_rate=1e-3, weight_decay=0.0)
    return net, Loop(net, groups, Optimiser(steps=130), seed=1)


def train(net, loop, **until):
    losses = []

    def loss(step):
        return net(torch.full((1, 2), float(step))).abs().sum(), 1

    loop.run(lambda step: [step], loss, after_step=lambda step, mean: losses.append(mean), **until)
    return losses


def test_the_last_hundred_losses_are_known_also_after_an_interruption(tmp_path):
    whole, interrupted, resumed = make(), make(), make()
    losses = train(*whole)
    assert len(losses) == 130
    train(*interrupted, until=60)
    interrupted[1].save(tmp_path / "state.pt")
    resumed[1].load(tmp_path / "state.pt")
    train(*resumed)
    for _, loop in (whole, resumed):
        assert list(loop.losses) == losses[-100:]
