"""Record the update of a training step as a CUDA graph: the norm of the gradient, clipping and AdamW.

BERT has two hundred tensors, whose update a GPU computes sooner than the processor can launch its kernels. The numbers
of a step, its loss and norm, are read after the update was launched, so that the GPU need not wait for the processor.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import nn

from crosslens.encoders.gpu.cuda_graphs import Recorder

MOVED = 0.1
"""Share of all gradients that may lie elsewhere than in the step before when the update is recorded: graphs read
gradients where they were, so that these are copied there at every replay."""


class UpdateGraph:
    """Clip the gradients of a step and update the parameters, on a GPU, without waiting for it.

    Recorded as soon as two steps have their gradients in the same memory, as those that come from graphs do.

    Args:
        adamw: the optimiser, fused. Its moments stay in place until the last call.
        clip: maximum norm of the mean gradient; None: no clipping.

    Attributes:
        replayed: number of updates that came from the graph.
    """

    def __init__(self, adamw: torch.optim.AdamW, *, clip: float | None, device: torch.device) -> None:
        self.replayed = 0
        self._adamw, self._clip, self._device = adamw, math.inf if clip is None else clip, device
        self._count = torch.zeros((), device=device)
        self._rates = [torch.zeros((), device=device) for _ in adamw.param_groups]
        self._norm = torch.zeros((), device=device)
        self._places: dict[nn.Parameter, int] = {}  # addresses of the gradients of the step before
        self._recordable = True
        self._gradients: dict[nn.Parameter, torch.Tensor] = {}  # where the graph reads them
        self._replay: Callable[[], None] | None = None

    def __call__(self, count: int, rates: Sequence[float]) -> torch.Tensor:
        """Divide the gradients by a count, clip them, and update the parameters.

        Args:
            count: number of losses in the sum of which they are the gradient.
            rates: learning rate of each parameter group.

        Returns:
            The norm of the gradient of the sum, a scalar on the device that the next call overwrites.
        """
        for tensor, value in zip((self._count, *self._rates), (count, *rates), strict=True):
            tensor.fill_(value)
        gradients = {p: p.grad for group in self._adamw.param_groups for p in group["params"] if p.grad is not None}
        if self._replay is None and self._recordable and self._are_at_rest(gradients):
            self._record(gradients)
        if self._replay is None or gradients.keys() != self._gradients.keys():
            self._compute(gradients, capturable=False)
            return self._norm
        moved = [p for p, gradient in gradients.items() if gradient is not self._gradients[p]]
        if moved:
            torch._foreach_copy_([self._gradients[p] for p in moved], [gradients[p] for p in moved])  # pyright: ignore
            for p in moved:
                p.grad = self._gradients[p]
        self._replay()
        self.replayed += 1
        return self._norm

    def _are_at_rest(self, gradients: dict[nn.Parameter, torch.Tensor]) -> bool:
        """Whether nearly all gradients lie where those of the step before did."""
        before, self._places = self._places, {p: gradient.data_ptr() for p, gradient in gradients.items()}
        if before.keys() != gradients.keys():
            return False
        moved = sum(gradient.numel() for p, gradient in gradients.items() if self._places[p] != before[p])
        return moved <= MOVED * sum(gradient.numel() for gradient in gradients.values())

    def _record(self, gradients: dict[nn.Parameter, torch.Tensor]) -> None:
        try:
            replay = Recorder(self._device).record(lambda: self._compute(gradients, capturable=True))
        except RuntimeError:  # nothing was updated; every update is computed without a graph
            self._recordable = False
            return
        self._gradients, self._replay = gradients, replay

    def _compute(self, gradients: dict[nn.Parameter, torch.Tensor], *, capturable: bool) -> None:
        parts = list(gradients.values())
        self._norm.copy_(nn.utils.get_total_norm(parts))
        factor = (self._clip / (self._norm / self._count + 1e-6)).clamp(max=1.0) / self._count
        torch._foreach_mul_(parts, factor)  # pyright: ignore[reportPrivateImportUsage]  # no public name
        for group, rate in zip(self._adamw.param_groups, self._rates, strict=True):
            group.update(lr=rate, capturable=capturable)
        self._adamw.step()
        for group in self._adamw.param_groups:  # a saved state says nothing of the device
            group.update(lr=0.0, capturable=False)
