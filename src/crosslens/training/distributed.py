"""Several processes that train one model, as `torchrun` starts them: each reads its share of every step's batch.

Gradients are summed over the processes before they are divided by the whole batch's count. Without dropout the number
of processes therefore changes a training by no more than rounding; with dropout, each process draws its own masks.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed


@dataclass(frozen=True, slots=True)
class Processes:
    """This process and how many there are.

    Attributes:
        rank: this one's number, from 0.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    def sum(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replace each tensor by its sum over the processes, equal in all of them to the bit."""
        if self.size > 1:
            for work in [torch.distributed.all_reduce(tensor, async_op=True) for tensor in tensors]:
                work.wait()  # pyright: ignore[reportOptionalMemberAccess]

    def wait(self) -> None:
        """Until all processes have come here."""
        if self.size > 1:
            torch.distributed.barrier()


def processes() -> Processes:
    """The processes that were joined; this one alone when none were."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return Processes(torch.distributed.get_rank(), torch.distributed.get_world_size())
    return Processes()


def join_processes(device: str | None = None) -> str | None:
    """Join the processes that ``torchrun`` started; alone, do nothing.

    Args:
        device: what was asked for; None or ``cuda`` gives each process a GPU of its own.

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
    """Part from the other processes, if there are any."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads for what is computed on a CPU; the same bits need the same number."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
