"""Data-parallel training in processes started by `torchrun`; each reads its share of every batch.

Gradients are summed over processes before they are divided by the count of the whole batch. Without dropout, the number
of processes therefore changes results by rounding only; with dropout, each process draws its own masks.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed


@dataclass(frozen=True, slots=True)
class Processes:
    """The group of training processes, as this process sees it.

    Attributes:
        rank: number of this process, from 0.
    """

    rank: int = 0
    size: int = 1

    def sum(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replace each tensor in place by its sum over the processes, bit-identical in all of them."""
        if self.size > 1:
            for work in [torch.distributed.all_reduce(tensor, async_op=True) for tensor in tensors]:
                if work is not None:
                    work.wait()

    def wait(self) -> None:
        """Block until every process has called this."""
        if self.size > 1:
            torch.distributed.barrier()


def processes() -> Processes:
    """Return the processes joined by `join_processes`; otherwise this process alone."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return Processes(torch.distributed.get_rank(), torch.distributed.get_world_size())
    return Processes()


def join_processes(device: str | None = None) -> str | None:
    """Join the processes started by ``torchrun``; without ``torchrun``, do nothing.

    Args:
        device: requested device; None or ``cuda`` assigns one GPU to each process.

    Returns:
        The device of this process.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2 or torch.distributed.is_initialized():
        return device
    if device in (None, "cuda") and torch.cuda.is_available():
        device = f"cuda:{os.environ['LOCAL_RANK']}"
        torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl" if device and device.startswith("cuda") else "gloo")
    return device


def leave_processes() -> None:
    """Leave the process group, if there is one."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use this number of CPU threads inside the block; bit-identical results need the same number."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
