"""The one training loop: fine-tuning and pretraining both call it.

It knows nothing of labels. It asks for the micro-batches of a step and for the (sum, count) of each one's losses, and
divides the summed gradient by the whole step's count. Without dropout, micro-batches, several processes, and halved
micro-batches when memory runs out therefore change memory and time, and the result by rounding alone. Dropout masks are
drawn for whole tensors, so with dropout each of the three is another draw of the same training.
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
from crosslens.errors import RequestError, TrainingError
from crosslens.files import write_bytes
from crosslens.training.distributed import processes

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimiser:
    """AdamW and its learning rate.

    Attributes:
        steps: how many there are in all; the learning rate is 0 at the last.
        warmup: share of the steps in which the learning rate rises; it peaks at the end of that.
        betas: decay rates.
        epsilon: added to the denominator.
        weight_decay: decoupled; on matrices only.
        clip: largest norm of a step's gradient; None: not clipped.
        schedule: ``linear``: warm-up, then decay to 0 at the last step; ``inverse-sqrt``: warm-up, then by the inverse
            square root of the steps (Vaswani et al. 2017); ``constant`` and ``plateau``: 1, times `Loop.scale`.
    """

    steps: int
    warmup: float = 0.1
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip: float | None = 1.0
    schedule: Literal["linear", "inverse-sqrt", "constant", "plateau"] = "linear"

    def factor(self, step: int) -> float:
        """The share of the peak learning rate at a step, counted from 1."""
        if self.schedule in ("constant", "plateau"):
            return 1.0
        peak = max(1, math.ceil(self.warmup * self.steps))
        if step <= peak:
            return step / peak
        if self.schedule == "inverse-sqrt":
            return math.sqrt(peak / step)
        return (self.steps - step) / (self.steps - peak)


def parameter_groups(module: nn.Module, *, learning_rate: float, weight_decay: float) -> list[dict[str, Any]]:
    """A module's trainable parameters, those that decay apart from those that do not.

    Matrices decay. Biases and normalisations do not, and neither do embeddings: a row that never occurs in the
    training text would shrink for nothing.
    """
    tables = {id(p) for m in module.modules() if isinstance(m, nn.Embedding) for p in m.parameters(recurse=False)}
    trainable = [p for p in module.parameters() if p.requires_grad]
    decaying = [p for p in trainable if p.ndim > 1 and id(p) not in tables]
    others = [p for p in trainable if p.ndim <= 1 or id(p) in tables]
    groups = [(decaying, weight_decay), (others, 0.0)]
    return [{"params": ps, "peak": learning_rate, "weight_decay": decay} for ps, decay in groups if ps]


class Loop(Generic[Item]):
    """A training that lives: modules, optimiser and step. Save it anywhere, load it, and it goes on to the same bits.

    Args:
        module: everything that is trained; what its `state_dict` holds is what `save` keeps.
        groups: from `parameter_groups`.
        optimiser: its settings.
        seed: dropout draws from ``(seed, step)``, and from the process's rank where there are several, so a resumed
            run draws the same. Masks follow one another over a step's micro-batches: other micro-batches, other masks.
        identity: of the training; a state of another is not taken up.
        halve: micro-batch -> its halves, for when the memory is full; None: that ends the training.
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
        self.scale = 1.0  # of the learning rate, besides the schedule; the caller may lower it between steps
        self.over = False  # the caller may end the training between steps
        self.halved = False  # whether memory ran out once, and micro-batches have been halved since
        self.losses: deque[float] = deque(maxlen=100)  # the last ones, the newest at the end
        self._halve = halve
        self._processes = processes()
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
    ) -> None:
        """Train up to a step.

        Args:
            batches: step, counted from 0 -> its micro-batches, of which this process reads its share.
            loss: micro-batch -> the sum of its losses, and how many they are.
            until: stop after this many steps in all; None: at the end.
            after_step: called with the number of steps done and the step's mean loss.

        Raises:
            TrainingError: when a loss or a gradient is not a number: says at which step, and the last losses; when
                the memory is full even for half a micro-batch.
        """
        device = self._parameters[0].device
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            while not self.over and self.step < (
                self.settings.steps if until is None else min(until, self.settings.steps)
            ):
                mean = self._one_step(batches(self.step), loss)
                if after_step is not None:
                    after_step(self.step, mean)

    def _one_step(self, micro: Sequence[Item], loss: Callable[[Item], tuple[torch.Tensor, int]]) -> float:
        losses, count = self._gradients(micro, loss)
        total = 0.0
        if self._processes.size > 1:
            total, count = self._over_processes(sum(_numbers(losses)), count)
            losses = []
        gradients = [p.grad for p in self._parameters if p.grad is not None]
        *values, norm = _numbers([*losses, nn.utils.get_total_norm(gradients)])
        mean = (total + sum(values)) / count if count else 0.0
        norm /= max(count, 1)
        if not (math.isfinite(mean) and math.isfinite(norm)):
            what = f"the loss is {mean}" if not math.isfinite(mean) else f"the gradient has a norm of {norm}"
            last = ", ".join(f"{value:.4g}" for value in list(self.losses)[-5:]) or "none"
            raise TrainingError(
                f"{what} at step {self.step + 1} of {self.settings.steps}; the last losses: {last}",
                hint="lower the learning rate, or lengthen the warm-up",
            )
        # Dividing by the count and clipping are one multiplication: the gradients are gone through once.
        clip = 1.0 if self.settings.clip is None else min(1.0, self.settings.clip / (norm + 1e-6))
        if gradients and count:
            torch._foreach_mul_(gradients, clip / count)  # pyright: ignore[reportPrivateImportUsage]
        self.step += 1
        for group in self._adamw.param_groups:
            group["lr"] = group["peak"] * self.settings.factor(self.step) * self.scale
        self._adamw.step()
        self._adamw.zero_grad(set_to_none=True)
        self.losses.append(mean)
        return mean

    def _gradients(
        self, micro: Sequence[Item], loss: Callable[[Item], tuple[torch.Tensor, int]]
    ) -> tuple[list[torch.Tensor], int]:
        """Sum the gradients of this process's losses; the losses' sum of each micro-batch, and how many they are."""
        while True:
            # Drawn again from the start when a step is begun again.
            share = [self._processes.rank] if self._processes.size > 1 else []
            torch.manual_seed(stream_seed(self.seed, "dropout", self.step, *share))
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
                return losses, count
            except (MemoryError, RuntimeError) as error:
                if not _memory_is_full(error):
                    raise
            # Outside of the handler, whose traceback keeps the tensors of the failed attempt alive.
            self._adamw.zero_grad(set_to_none=True)
            if self.halved or self._halve is None:
                raise TrainingError(
                    f"the memory is full at step {self.step + 1} of {self.settings.steps}",
                    hint="read fewer or shorter sequences at once: a smaller micro_batch where there is one, a smaller "
                    "batch, or shorter windows",
                )
            self.halved = True

    def _over_processes(self, total: float, count: int) -> tuple[float, int]:
        """Sum gradients, losses and counts over all processes."""
        has = [float(parameter.grad is not None) for parameter in self._parameters]
        sums = torch.tensor([total, count, *has], dtype=torch.float64, device=self._parameters[0].device)
        self._processes.sum([sums])
        for parameter, anywhere in zip(self._parameters, sums[2:].tolist(), strict=True):
            if anywhere and parameter.grad is None:  # none anywhere stays none: AdamW moves what has a gradient of 0
                parameter.grad = torch.zeros_like(parameter)
        self._processes.sum([p.grad for p in self._parameters if p.grad is not None])
        return float(sums[0]), int(sums[1])

    def save(self, path: str | Path, **more: Any) -> None:
        """Write all that going on needs: parameters, optimiser, step, and ``more``. Whole or not at all."""
        state = {
            "module": self.module.state_dict(), "adamw": self._adamw.state_dict(), "step": self.step,
            "losses": list(self.losses), "identity": self.identity, "halved": self.halved, "scale": self.scale,
            "over": self.over, "more": more,
        }  # fmt: skip
        stream = BytesIO()
        torch.save(state, stream)
        write_bytes(path, stream.getvalue())

    def load(self, path: str | Path) -> dict[str, Any]:
        """Take up what `save` wrote, and give ``more`` back.

        Raises:
            RequestError: when it is of another training.
            TrainingError: when the file is damaged.
        """
        try:
            state = torch.load(path, map_location=self._parameters[0].device, weights_only=True)
            if state["identity"] != self.identity:
                raise RequestError(
                    f"{path} holds an unfinished training of other settings or other data",
                    hint="remove it to start again, or name another place for the result",
                )
            self.module.load_state_dict(state["module"])
            self._adamw.load_state_dict(state["adamw"])
        except RequestError:
            raise
        except Exception as error:  # torch raises a dozen kinds for a damaged file
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise TrainingError(
                f"{path} cannot be resumed from: {reason}", hint="remove it to start again from the beginning"
            ) from None
        self.step, self.halved = state["step"], state["halved"]
        self.scale, self.over = state["scale"], state["over"]
        self.losses = deque(state["losses"], maxlen=self.losses.maxlen)
        return state["more"]


def _numbers(tensors: Sequence[torch.Tensor]) -> list[float]:
    """Numbers off the device, together: a GPU is waited for once a step, and works on in the meantime."""
    return torch.stack(list(tensors)).tolist() if tensors else []


def _memory_is_full(error: Exception) -> bool:
    """CUDA and MPS say so by a kind or a text of their own, the CPU's allocator by another text."""
    words = str(error)
    full = ("out of memory", "can't allocate memory")
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or any(text in words for text in full)
