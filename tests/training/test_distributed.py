"""Several processes take the steps of one: played by threads, and under torchrun."""

import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from torch import nn

from crosslens.training.distributed import threads
from crosslens.training.loop import Loop, Optimiser, parameter_groups
from gradients import assert_same_gradients, assert_same_losses
from toy_trainings import RECIPE, watched


def data(step, size=8):
    generator = torch.Generator().manual_seed(step)
    return torch.randn(size, 4, generator=generator), torch.randint(0, 3, (size,), generator=generator)


def bits(net):
    return {name: value.clone() for name, value in net.state_dict().items()}


class Thread:
    """One of several processes, played by threads."""

    def __init__(self, rank, size, barrier, shared):
        self.rank, self.size, self._barrier, self._shared = rank, size, barrier, shared

    def sum(self, tensors):
        self._shared[self.rank] = [tensor.detach().clone() for tensor in tensors]
        self._barrier.wait()
        sums = [sum(parts) for parts in zip(*self._shared, strict=True)]
        self._barrier.wait()
        for tensor, total in zip(tensors, sums, strict=True):
            tensor.copy_(total)


def test_several_processes_make_the_step_of_one_that_reads_everything():
    """Each reads its share; what only one of them uses moves in both, and what none uses in none."""

    def network():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return nn.ModuleList([nn.Linear(4, 3) for _ in range(3)])

    def loop_of(net):
        groups = parameter_groups(net, learning_rate=0.05, weight_decay=0.1)
        return Loop(net, groups, Optimiser(steps=4, epsilon=1e-3, weight_decay=0.1), seed=5)

    def loss_of(net):
        def loss(item):
            branch, (x, y) = item
            return nn.functional.cross_entropy(net[branch](x), y, reduction="sum"), len(y)

        return loss

    def batches(step):
        return [(0, data(step, 6)), (1, data(step + 9, 3))]

    alone = network()
    whole = loop_of(alone)
    whole.run(batches, loss_of(alone))
    nets, barrier, shared = [network(), network()], threading.Barrier(2, timeout=20), [None, None]
    loops = [loop_of(net) for net in nets]
    for rank, loop in enumerate(loops):
        loop._processes = Thread(rank, 2, barrier, shared)
    with ThreadPoolExecutor(2) as pool:
        running = [
            pool.submit(loop.run, lambda step, rank=rank: batches(step)[rank : rank + 1], loss_of(net))
            for rank, (loop, net) in enumerate(zip(loops, nets, strict=True))
        ]
        for each in running:
            each.result(timeout=30)
    start = bits(network())
    for name, value in bits(alone).items():
        assert torch.equal(bits(nets[0])[name], bits(nets[1])[name])
        torch.testing.assert_close(bits(nets[0])[name], value, atol=1e-6, rtol=1e-5)
        assert torch.equal(value, start[name]) is name.startswith("2.")
    assert list(loops[0].losses) == pytest.approx(list(whole.losses))
    assert list(loops[0].losses) == list(loops[1].losses)


@pytest.mark.rounding
def test_two_processes_are_one_with_the_whole_batch(tmp_path, tiny_bert, treebanks, encoder, toy):
    """torchrun and gloo: the gradients and losses of one process, to rounding; both end with the same bits."""
    script = tmp_path / "train.py"
    recipe = RECIPE.model_copy(update={"select": "last", "clip": None})
    (tmp_path / "recipe.json").write_text(recipe.model_dump_json())
    script.write_text(
        "import sys, torch\n"
        "from pathlib import Path\n"
        "torch.set_num_threads(1)\n"
        "import crosslens as xl\n"
        "from crosslens.training.distributed import join_processes, leave_processes, processes\n"
        "from gradients import recorded_gradients\n"
        "encoder, data, folder = sys.argv[1:]\n"
        "for _ in range(2):  # whoever has joined stays\n"
        "    assert join_processes('cpu') == 'cpu'\n"
        "encoder = xl.load_encoder(encoder, device='cpu')\n"
        "train = xl.load_corpus('ud/en_toy:train', data=data)\n"
        "recipe = xl.Recipe.model_validate_json(Path(folder, 'recipe.json').read_text())\n"
        "losses = []\n"
        "with recorded_gradients() as steps:\n"
        "    model = xl.finetune(\n"
        "        encoder, 'parsing', train=train, recipe=recipe, seed=1, stepped=lambda _, loss: losses.append(loss)\n"
        "    )\n"
        "assert model.facts['processes'] == 2\n"
        "state = {**model.encoder.model.state_dict(), **model.head.state_dict()}\n"
        "torch.save((state, steps[0], losses), Path(folder, f'{processes().rank}.pt'))\n"
        "leave_processes()\n"
    )
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    here = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": here}
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(port)]
    command += [str(script), str(tiny_bert), str(treebanks), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    (first, *seen), (second, *_) = (torch.load(tmp_path / f"{rank}.pt") for rank in (0, 1))
    assert first
    assert all(torch.equal(first[key], second[key]) for key in first)
    _, expected, losses = watched(encoder, "parsing", toy, recipe)
    assert_same_gradients(seen[0], expected)
    assert_same_losses(seen[1], losses)


def test_the_number_of_threads_is_the_callers_again_after_an_error_too():
    before = torch.get_num_threads()
    with suppress(KeyError), threads(before + 1):
        inside = torch.get_num_threads()
        raise KeyError
    assert inside == before + 1
    assert torch.get_num_threads() == before
