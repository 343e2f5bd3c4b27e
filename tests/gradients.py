"""Compare two trainings that are the same but for rounding: by their gradients and losses, never by their weights.

AdamW divides a gradient by its own size. Where the gradient is zero in exact arithmetic, as that of an attention key's
bias is (softmax does not see it), rounding error alone decides the weight, and it differs between machines.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

Gradients = list[torch.Tensor | None]

ROUNDING = 1e-4
"""Of a step's gradients relative to their largest, and of losses. float32 stays below it with sums that cancel; a
sentence that is left out, or a wrong count, changes a thousand times as much."""


@contextmanager
def recorded_gradients() -> Iterator[list[Gradients]]:
    """The gradients of every optimiser step within: what the optimiser is given, in the order of its parameters.

    They are clipped; recipes that are compared should not clip, as clipping hides a wrong scale.
    """
    steps: list[Gradients] = []

    def record(optimiser: torch.optim.Optimizer, args: tuple, kwargs: dict) -> None:
        parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
        steps.append([None if p.grad is None else p.grad.detach().clone() for p in parameters])

    handle = register_optimizer_step_pre_hook(record)
    try:
        yield steps
    finally:
        handle.remove()


def assert_same_gradients(found: Gradients, expected: Gradients) -> None:
    """The gradients of one step are there for the same parameters, are not all zero, and agree up to rounding.

    A sum's rounding error is proportional to the size of what is summed, not to the sum: it is measured by the largest
    gradient of all.
    """
    assert [gradient is None for gradient in found] == [gradient is None for gradient in expected]
    pairs = [(ours, right) for ours, right in zip(found, expected, strict=True) if ours is not None]
    largest = max(float(right.abs().max()) for _, right in pairs)
    assert largest > 1e-3
    for ours, right in pairs:
        torch.testing.assert_close(ours, right, atol=ROUNDING * largest, rtol=0)


def assert_same_losses(found: Sequence[float], expected: Sequence[float]) -> None:
    """The losses of all steps agree: training led through the same functions, whatever weights they ignore."""
    assert len(found) == len(expected) > 1
    torch.testing.assert_close(torch.tensor(found), torch.tensor(expected), atol=0, rtol=ROUNDING)
