"""The training loop of fine-tuning and pretraining.

The loop does not know labels. It asks for the micro-batches of a step, and for the (sum, count) of the losses of each
micro-batch, and divides the summed gradient by the count of the whole step. Without dropout, the number of
micro-batches or processes therefore affects memory and time, and the result only by rounding. Dropout masks are drawn
for whole tensors, so with dropout another number of either gives another random sample of the same training.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import torch
from torch import nn

from crosslens.digests import stream_seed
from crosslens.encoders.gpu.cuda_graphs import uses_graphs
from crosslens.encoders.gpu.update_graph import UpdateGraph
from crosslens.errors import RequestError, TrainingError
from crosslens.files import is_refusal, write_bytes
from crosslens.memory_errors import is_exhausted
from crosslens.training.distributed import processes

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimiser:
    """Settings of AdamW and its learning-rate schedule.

    Attributes:
        steps: total number of steps.
        warmup: fraction of the steps in which the learning rate rises to its peak.
        betas: decay rates of the moment estimates.
        epsilon: added to the denominator.
        weight_decay: decoupled weight decay, of matrices only.
        clip: maximum norm of a step's gradient; None: no clipping.
        schedule: ``linear``: warm-up, then decay to 0 at the last step; ``inverse-sqrt``: warm-up, then decay with the
            inverse square root of the step (Vaswani et al. 2017); ``constant`` and ``plateau``: the peak times
            `Loop.scale`.
    """

    steps: int
    warmup: float = 0.1
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip: float | None = 1.0
    schedule: Literal["linear", "inverse-sqrt", "constant", "plateau"] = "linear"

    def factor(self, step: int) -> float:
        """Return the learning rate at a step, counted from 1, as a fraction of the peak.

        >>> [Optimiser(steps=20).factor(step) for step in (1, 2, 11, 20)]
        [0.5, 1.0, 0.5, 0.0]
        """
        if self.schedule in ("constant", "plateau"):
            return 1.0
        peak = max(1, math.ceil(self.warmup * self.steps))
        if step <= peak:
            return step / peak
        if self.schedule == "inverse-sqrt":
            return math.sqrt(peak / step)
        return (self.steps - step) / (self.steps - peak)


def parameter_groups(module: nn.Module, *, learning_rate: float, weight_decay: float) -> list[dict[str, Any]]:
    """Split the trainable parameters of a module into two groups, with and without weight decay.

    Only matrices decay, not biases, normalisation weights or embeddings: decay would shrink embeddings that never occur
    in the training text.
    """
    tables = {id(p) for m in module.modules() if isinstance(m, nn.Embedding) for p in m.parameters(recurse=False)}
    trainable = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
    # XLNet has biases of two dimensions, one for each head.
    fixed = {id(p) for name, p in trainable if p.ndim <= 1 or id(p) in tables or name.endswith("_bias")}
    decaying = [p for _, p in trainable if id(p) not in fixed]
    others = [p for _, p in trainable if id(p) in fixed]
    groups = [(decaying, weight_decay), (others, 0.0)]
    return [{"params": ps, "peak": learning_rate, "weight_decay": decay} for ps, decay in groups if ps]


def trained_weights(module: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers that training may change, by name; they share memory with the module."""
    frozen = {name for name, parameter in module.named_parameters() if not parameter.requires_grad}
    return {name: tensor for name, tensor in module.state_dict().items() if name not in frozen}


class Loop(Generic[Item]):
    """A resumable training loop: module, optimiser and step. A resumed loop gives bit-identical results.

    Args:
        module: the module to train; `save` writes its `trained_weights`.
        seed: dropout depends on ``(seed, step)``, and on the rank where there are several processes, so a resumed run
            draws the same masks. Other micro-batches draw other masks.
        identity: digest of the run; `load` rejects the state of a different run.
        halve: splits a micro-batch in two when memory runs out; None: running out of memory is an error.
    """

    def __init__(
        self,
        module: nn.Module,
        groups: list[dict[str, Any]],
        optimiser: Optimiser,
        *,
        seed: int,
        identity: str = "",
        halve: Callable[[Item], Sequence[Item]] | None = None,
    ) -> None:
        self.module = module
        self.settings = optimiser
        self.seed = seed
        self.identity = identity
        self.step = 0
        self.scale = 1.0  # factor on the scheduled learning rate; the caller may lower it between steps
        self.over = False  # set by the caller to end the training after a step
        self.halved = False  # whether memory ran out, so that micro-batches are halved
        self.losses: deque[float] = deque(maxlen=100)  # mean losses of the last steps, newest last
        self._halve = halve
        self._processes = processes()
        self._on_gpu: UpdateGraph | None = None
        self._parameters = [p for group in groups for p in group["params"]]
        self._adamw = torch.optim.AdamW(
            groups, lr=0.0, betas=optimiser.betas, eps=optimiser.epsilon, fused=True
        )  # fused: the same update to 3e-11, five times faster on CPU

    def run(
        self,
        batches: Callable[[int], Sequence[Item]],
        loss: Callable[[Item], tuple[torch.Tensor, int]],
        *,
        until: int | None = None,
        after_step: Callable[[int, float], None] | None = None,
        meanwhile: Callable[[int], None] | None = None,
    ) -> None:
        """Train up to a step.

        Args:
            batches: returns this process's micro-batches of a step, counted from 0.
            loss: returns the sum and the number of losses of a micro-batch.
            until: total number of steps to stop after; None: train to the end.
            after_step: called with the number of steps done and the mean loss of the step.
            meanwhile: called with the next step, unless this is the last, while a GPU computes the gradients.

        Raises:
            TrainingError: when a loss or gradient is not finite, with the step and the last losses; when memory runs
                out even with halved micro-batches.
        """
        device = self._parameters[0].device
        devices = [device] if device.type == "cuda" else []
        if self._processes.size == 1 and uses_graphs(device):
            self._on_gpu = UpdateGraph(self._adamw, clip=self.settings.clip, device=device)
        last = self.settings.steps if until is None else min(until, self.settings.steps)
        with torch.random.fork_rng(devices=devices):
            while not self.over and self.step < last:
                losses, count = self._gradients(batches(self.step), loss)
                if meanwhile is not None and self.step + 1 < last:
                    meanwhile(self.step + 1)
                mean = self._update(losses, count)
                if after_step is not None:
                    after_step(self.step, mean)

    def _update(self, losses: list[torch.Tensor], count: int) -> float:
        """Update the parameters by the accumulated gradients, and return the mean loss of the step."""
        total = 0.0
        if self._processes.size > 1:
            total, count = self._over_processes(sum(_numbers(losses)), count)
            losses = []
        gradients = [p.grad for p in self._parameters if p.grad is not None]
        rates = [group["peak"] * self.settings.factor(self.step + 1) * self.scale for group in self._adamw.param_groups]
        on_gpu = self._on_gpu if gradients and count else None
        norm = nn.utils.get_total_norm(gradients) if on_gpu is None else on_gpu(count, rates)
        *values, norm = _numbers([*losses, norm])
        mean = (total + sum(values)) / count if count else 0.0
        norm /= max(count, 1)
        if not (math.isfinite(mean) and math.isfinite(norm)):
            what = f"the loss is {mean}" if not math.isfinite(mean) else f"the gradient norm is {norm}"
            last = ", ".join(f"{value:.4g}" for value in list(self.losses)[-5:]) or "none"
            raise TrainingError(
                f"{what} at step {self.step + 1} of {self.settings.steps}; last losses: {last}",
                hint="lower the learning rate or lengthen the warm-up",
            )
        self.step += 1
        if on_gpu is None:
            # Dividing by the count and clipping are one multiplication, so gradients are read only once.
            clip = 1.0 if self.settings.clip is None else min(1.0, self.settings.clip / (norm + 1e-6))
            if gradients and count:
                torch._foreach_mul_(gradients, clip / count)  # pyright: ignore[reportPrivateImportUsage]  # no public name
            for group, rate in zip(self._adamw.param_groups, rates, strict=True):
                group["lr"] = rate
            self._adamw.step()
        self._adamw.zero_grad(set_to_none=True)
        self.losses.append(mean)
        return mean

    def _gradients(
        self, micro: Sequence[Item], loss: Callable[[Item], tuple[torch.Tensor, int]]
    ) -> tuple[list[torch.Tensor], int]:
        """Accumulate this process's gradients; return the summed loss of each micro-batch and the number of losses."""
        while True:
            # Seeded here, so that a repeated step draws the same masks.
            rank = [self._processes.rank] if self._processes.size > 1 else []
            torch.manual_seed(stream_seed(self.seed, "dropout", self.step, *rank))
            items = [half for item in micro for half in self._halve(item)] if self.halved and self._halve else micro
            losses: list[torch.Tensor] = []
            count = 0
            try:
                for item in items:
                    summed, terms = loss(item)
                    if terms:
                        summed.backward()
                        losses.append(summed.detach())
                        count += terms
                    del summed  # with its graph, whose nodes would belong to another stream in a recorded pass
                return losses, count
            except (MemoryError, RuntimeError) as error:
                if not is_exhausted(error):
                    raise
            # Outside the handler, because its traceback keeps the tensors of the failed attempt alive.
            self._adamw.zero_grad(set_to_none=True)
            if self.halved or self._halve is None:
                raise TrainingError(
                    f"out of memory at step {self.step + 1} of {self.settings.steps}",
                    hint="lower micro_batch (or batch, where there is no micro_batch), or shorten the windows",
                )
            self.halved = True

    def _over_processes(self, total: float, count: int) -> tuple[float, int]:
        """Sum gradients, losses and counts over all processes."""
        has_gradient = [float(parameter.grad is not None) for parameter in self._parameters]
        sums = torch.tensor([total, count, *has_gradient], dtype=torch.float64, device=self._parameters[0].device)
        self._processes.sum([sums])
        for parameter, anywhere in zip(self._parameters, sums[2:].tolist(), strict=True):
            # A gradient that is None in all processes stays None: AdamW would move a parameter whose gradient is 0.
            if anywhere and parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self._processes.sum([p.grad for p in self._parameters if p.grad is not None])
        return float(sums[0]), int(sums[1])

    def save(self, path: str | Path, **more: Any) -> None:
        """Save a resumable state atomically: trained parameters, optimiser, step, and ``more``."""
        state = {
            "module": trained_weights(self.module),
            "adamw": self._adamw.state_dict(),
            "step": self.step,
            "losses": list(self.losses),
            "identity": self.identity,
            "halved": self.halved,
            "scale": self.scale,
            "over": self.over,
            "more": more,
        }
        stream = BytesIO()
        torch.save(state, stream)
        write_bytes(path, stream.getvalue())

    def load(self, path: str | Path) -> dict[str, Any]:
        """Resume from a file that `save` wrote, and return ``more``.

        Raises:
            RequestError: when the file belongs to a different training.
            TrainingError: when the file is damaged.
            OSError: when the operating system refuses to read it.
        """
        try:
            state = torch.load(path, map_location=self._parameters[0].device, weights_only=True)
            if state["identity"] != self.identity:
                raise RequestError(
                    f"{path} holds an unfinished training with other settings or data",
                    hint="remove it to start again, or choose another output",
                )
            # Only frozen parameters may be absent.
            saved, known = state["module"].keys(), self.module.state_dict().keys()
            if wrong := (trained_weights(self.module).keys() - saved) | (saved - known):
                raise KeyError(min(wrong))
            self.module.load_state_dict(state["module"], strict=False)
            self._adamw.load_state_dict(state["adamw"])
        except RequestError:
            raise
        except Exception as error:  # torch raises a dozen kinds for a damaged file
            if is_refusal(error):
                raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise TrainingError(f"cannot resume from {path}: {reason}", hint="remove it to start again") from None
        self.step, self.halved = state["step"], state["halved"]
        self.scale, self.over = state["scale"], state["over"]
        self.losses = deque(state["losses"], maxlen=self.losses.maxlen)
        return state["more"]


def _numbers(tensors: Sequence[torch.Tensor]) -> list[float]:
    """Return the values of scalar tensors in one transfer, so that a GPU is synchronised once per step."""
    return torch.stack(list(tensors)).tolist() if tensors else []
