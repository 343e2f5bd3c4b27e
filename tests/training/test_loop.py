import math

import pytest
import torch
from torch import nn

from crosslens.errors import RequestError, TrainingError
from crosslens.training.loop import Loop, Optimiser, parameter_groups, trained_weights


def small_net():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 16), nn.LayerNorm(16), nn.Dropout(0.2), nn.Linear(16, 3))


def data(step, size=8):
    generator = torch.Generator().manual_seed(step)
    return torch.randn(size, 4, generator=generator), torch.randint(0, 3, (size,), generator=generator)


def make(net, *, steps=12, seed=5, **settings):
    groups = parameter_groups(net, learning_rate=0.05, weight_decay=0.1)
    loop = Loop(net, groups, Optimiser(steps=steps, weight_decay=0.1, **settings), seed=seed)

    def loss(item):
        x, y = item
        return nn.functional.cross_entropy(net(x), y, reduction="sum"), len(y)

    return loop, loss


def bits(net):
    return {name: value.clone() for name, value in net.state_dict().items()}


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in a)


def test_the_loss_falls():
    net = small_net()
    loop, loss = make(net, steps=200)
    losses = []
    loop.run(lambda step: [data(0)], loss, after_step=lambda step, mean: losses.append(mean))
    assert losses[-1] < 0.1 * losses[0]


def test_resumed_anywhere_it_ends_in_the_same_bits(tmp_path):
    whole = small_net()
    loop, loss = make(whole)
    loop.run(lambda step: [data(step)], loss)
    for stop in (1, 6, 11):
        first = small_net()
        loop, loss = make(first)
        loop.run(lambda step: [data(step)], loss, until=stop)
        loop.save(tmp_path / "state.pt")
        second = small_net()
        torch.manual_seed(999)  # what the process drew before does not matter
        loop, loss = make(second)
        loop.load(tmp_path / "state.pt")
        assert loop.step == stop
        loop.run(lambda step: [data(step)], loss)
        assert same(bits(second), bits(whole))


def test_all_that_a_loop_knows_is_part_of_its_state(tmp_path):
    """Also what the memory and the dev scores taught it."""
    loop, loss = make(small_net())
    loop.run(lambda step: [data(step)], loss, until=3)
    loop.scale, loop.over, loop.halved = 0.25, True, True
    loop.save(tmp_path / "state.pt", note="x")
    other = make(small_net())[0]
    assert other.load(tmp_path / "state.pt") == {"note": "x"}
    assert (other.step, other.scale, other.over, other.halved) == (3, 0.25, True, True)
    assert list(other.losses) == list(loop.losses)
    assert len(other.losses) == 3
    other.run(lambda step: [data(step)], loss)
    assert other.step == 3  # it was over


def exact_net():
    """The net without dropout, in float64: AdamW makes full steps of float32's rounding where a gradient is small."""
    net = small_net().double()
    net[2].p = 0.0
    return net


def exact_data(step, size=8):
    x, y = data(step, size)
    return x.double(), y


@pytest.mark.rounding
def test_accumulating_is_the_large_batch():
    """R12: counts differ between the micro-batches, and the optimiser and the schedule step once."""
    nets = [exact_net(), exact_net()]
    for net, sizes in zip(nets, ([32], [1, 5, 2, 10, 14]), strict=True):
        loop, loss = make(net, steps=6)

        def micro(step, sizes=sizes):
            x, y = exact_data(step, 32)
            return list(zip(x.split(sizes), y.split(sizes), strict=True))

        loop.run(micro, loss)
        assert loop.step == 6
    for a, b in zip(nets[0].parameters(), nets[1].parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)


def test_the_learning_rate_peaks_after_the_warm_up_and_is_0_at_the_last_step():
    """R15."""
    for steps in (1, 2, 10, 100, 1234):
        settings = Optimiser(steps=steps, warmup=0.1)
        factors = [settings.factor(step) for step in range(1, steps + 1)]
        peak = max(1, math.ceil(steps * 0.1))
        assert factors[peak - 1] == max(factors) == 1.0
        assert factors == sorted(factors[:peak]) + sorted(factors[peak:], reverse=True)
        if steps > 1:
            assert factors[-1] == 0.0


@pytest.mark.rounding
def test_clipping_bounds_the_step_and_equals_torch():
    net, twin = exact_net(), exact_net()
    loop, loss = make(net, steps=2, clip=0.01)
    loop.run(lambda step: [exact_data(step)], loss, until=1)
    adamw = torch.optim.AdamW(parameter_groups(twin, learning_rate=0.05, weight_decay=0.1), lr=0.05, fused=True)
    x, y = exact_data(0)
    nn.functional.cross_entropy(twin(x), y).backward()
    nn.utils.clip_grad_norm_(twin.parameters(), 0.01)
    adamw.step()
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)


def test_a_loss_that_is_no_number_stops_with_the_step_and_the_last_losses():
    net = small_net()
    loop, loss = make(net)

    def broken(item):
        summed, count = loss(item)
        return (summed * float("nan") if loop.step == 3 else summed), count

    before = {}

    def after(step, mean):
        before.update(bits(net))

    with pytest.raises(TrainingError, match=r"the loss is nan at step 4 of 12; last losses: \d"):
        loop.run(lambda step: [data(step)], broken, after_step=after)
    assert loop.step == 3
    assert same(bits(net), before)  # the bad step changed nothing


def test_an_infinite_gradient_stops_too():
    net = small_net()
    loop, loss = make(net)

    def broken(item):
        summed, count = loss(item)
        return summed + torch.sqrt(net[0].weight.sum() * 0), count

    with pytest.raises(TrainingError, match=r"the gradient norm is (nan|inf) at step 1"):
        loop.run(lambda step: [data(step)], broken)


def test_a_batch_without_targets_is_passed_over():
    net = small_net()
    loop, loss = make(net, steps=2)
    loop.run(lambda step: [data(step), None] if step else [None], lambda item: loss(item) if item else (None, 0))
    assert loop.step == 2
    assert loop.losses[0] == 0.0


def test_the_callers_random_numbers_are_left_alone():
    net = small_net()
    loop, loss = make(net)
    state = torch.random.get_rng_state()
    loop.run(lambda step: [data(step)], loss)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_frozen_parameters_are_not_touched_and_embeddings_do_not_decay():
    net = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 2))
    groups = parameter_groups(net, learning_rate=1.0, weight_decay=0.5)
    decaying = {id(p) for group in groups if group["weight_decay"] for p in group["params"]}
    assert decaying == {id(net[1].weight)}
    net[0].requires_grad_(False)
    groups = parameter_groups(net, learning_rate=1.0, weight_decay=0.5)
    assert sum(len(group["params"]) for group in groups) == 2
    net[1].weight.requires_grad_(False)
    (group,) = parameter_groups(net, learning_rate=1.0, weight_decay=0.5)  # none without a parameter
    assert group == {"params": [net[1].bias], "peak": 1.0, "weight_decay": 0.0}


def test_a_state_holds_what_is_trained_and_nothing_that_is_frozen(tmp_path):
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    net[0].requires_grad_(False)
    assert set(trained_weights(net)) == {name for name in net.state_dict() if not name.startswith("0.")}
    loop = Loop(net, parameter_groups(net, learning_rate=0.1, weight_decay=0.0), Optimiser(steps=2), seed=1)
    loop.save(tmp_path / "state.pt")
    assert not any(name.startswith("0.") for name in torch.load(tmp_path / "state.pt")["module"])
    net[0].requires_grad_(True)
    with pytest.raises(TrainingError, match=r"cannot resume from .*state\.pt: '0\.bias'"):
        loop.load(tmp_path / "state.pt")
    del net[2]
    net[0].requires_grad_(False)
    with pytest.raises(TrainingError, match=r"cannot resume from .*state\.pt: '2\.bias'"):
        loop.load(tmp_path / "state.pt")


def test_a_checkpoint_that_does_not_fit_is_refused(tmp_path):
    loop, loss = make(small_net())
    loop.run(lambda step: [data(step)], loss, until=1)
    path = tmp_path / "state.pt"
    loop.save(path)
    net = small_net()
    groups = parameter_groups(net, learning_rate=0.05, weight_decay=0.1)
    other = Loop(net, groups, Optimiser(steps=12), seed=5, identity="another")
    with pytest.raises(RequestError, match=r"state.pt holds an unfinished training with other settings"):
        other.load(path)
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(TrainingError, match=r"cannot resume from .*state.pt"):
        make(small_net())[0].load(path)
    bigger = nn.Linear(4, 4)
    loop.save(path)
    with pytest.raises(TrainingError, match="cannot resume from"):
        make(bigger)[0].load(path)


FULL = [
    MemoryError(),
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    RuntimeError("MPS backend out of memory (MPS allocated: 5.00 GB)"),
]


def halves(item):
    x, y = item
    return list(zip(x.chunk(2), y.chunk(2), strict=True))


@pytest.mark.parametrize("error", FULL, ids=lambda error: type(error).__name__)
def test_a_full_memory_halves_micro_batches_for_good_and_changes_nothing_else(error):
    """What was summed before the memory was full is thrown away, and summed again."""
    nets, sizes = [small_net(), small_net()], []
    for net, limit in zip(nets, (99, 4), strict=True):
        net[2].p = 0.0
        groups = parameter_groups(net, learning_rate=0.05, weight_decay=0.1)
        loop = Loop(net, groups, Optimiser(steps=3, epsilon=1e-3), seed=5, halve=halves)

        def loss(item, net=net, limit=limit):
            x, y = item
            sizes.append(len(y))
            if len(y) > limit:
                raise error
            return nn.functional.cross_entropy(net(x), y, reduction="sum"), len(y)

        sizes.clear()
        loop.run(lambda step: [data(step, 4), data(step + 50, 8)], loss)
        assert loop.halved is (limit == 4)
    assert sizes == [4, 8] + [2, 2, 4, 4] * 3
    for a, b in zip(*(net.parameters() for net in nets), strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-5)


def test_a_memory_that_is_full_for_halves_too_and_other_errors_end_the_training():
    def full(item):
        raise MemoryError

    loop, _ = make(small_net())
    with pytest.raises(TrainingError, match="out of memory at step 1 of 12"):
        loop.run(lambda step: [data(step)], full)
    assert not loop.halved  # nothing says how to halve

    def broken(item):
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes do not match"):
        loop.run(lambda step: [data(step)], broken)


def test_a_gradient_that_is_smaller_than_the_bound_is_left_as_it_is():
    """Clipping never lengthens a step. (AdamW steps are as long for any gradient: its moments are compared.)"""
    moments = []
    for clip in (None, 1e6):
        net = small_net()
        loop, loss = make(net, steps=2, clip=clip)
        loop.run(lambda step: [data(step)], loss)
        moments.append([state["exp_avg"] for state in loop._adamw.state.values()])
    assert len(moments[0]) == 6
    assert max(float(moment.abs().max()) for moment in moments[0]) < 10
    for one, other in zip(*moments, strict=True):
        torch.testing.assert_close(one, other)
