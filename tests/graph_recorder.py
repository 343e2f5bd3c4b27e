"""A recorder of CUDA graphs that works without a GPU, for tests of what is recorded."""

import torch

from crosslens.encoders.gpu import cuda_graphs


class StandIn:
    def __init__(self, device):
        self.device = device


class Repeated(StandIn):
    """Does work once when it is recorded, and again at each replay."""

    def prepare(self, work):
        work()

    def record(self, work):
        work()
        return torch.enable_grad()(work)  # it is replayed where autograd records nothing


def record_without_gpu(monkeypatch):
    """Record by `Repeated` where there is no GPU."""
    if not torch.cuda.is_available():
        monkeypatch.setattr(cuda_graphs, "Recorder", Repeated)
