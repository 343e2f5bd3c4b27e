"""Initial weights, drawn from a seed."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def initial_weights(seed: int) -> Iterator[None]:
    """Draw the weights of new modules from a seed, on the CPU and in float32, whatever the caller's default dtype.

    The caller's generators keep their states; those of GPUs are not used.

    >>> with initial_weights(seed=1):
    ...     first = torch.nn.Linear(2, 2)
    >>> with initial_weights(seed=1):
    ...     second = torch.nn.Linear(2, 2)
    >>> torch.equal(first.weight, second.weight)
    True
    """
    default = torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed all GPUs too
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(default)
