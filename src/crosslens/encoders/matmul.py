"""Precision of matrix products, and faster float32 products on x86 processors.

It changes results by rounding only. ``torch.backends.mkldnn.enabled = False`` switches it off.

On x86, PyTorch computes float32 products with MKL, which uses the widest instructions only on Intel processors. oneDNN,
which PyTorch also includes, is twice as fast on AMD processors with AVX-512 and as fast with AVX2. It sums in another
order, so that rounding differs.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from crosslens.encoders.options import Precision

HAS_MKL_AND_ONEDNN = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
"""Whether this build of PyTorch includes both MKL and oneDNN, as those for x86 do."""

# oneDNN caches half a MiB per shape, for 1,024 shapes in its own cache and as many in PyTorch's.
# Batches of varying length would fill gigabytes. A step needs about twenty shapes, the same in every layer.
for _name in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.setdefault(_name, "64")

MIN_MULTIPLICATIONS = 1 << 21
"""Smallest product, in multiplications, for which oneDNN is faster; a call costs about 15 microseconds."""

_reordered_weights: ContextVar[dict[int, tuple[torch.Tensor, int, torch.Tensor]] | None] = ContextVar(
    "_reordered_weights", default=None
)
"""Cache inside `inference`: id of a weight -> the weight, its version, its oneDNN layout. None outside, where training
changes the weights."""


def linear(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Compute `functional.linear`, often faster: ``(…, inputs)`` and ``(outputs, inputs)`` to ``(…, outputs)``."""
    if not _uses_onednn(states, weight):
        return functional.linear(states, weight, bias)
    if torch.is_grad_enabled() and any(
        tensor is not None and tensor.requires_grad for tensor in (states, weight, bias)
    ):
        return _Linear.apply(states, weight, bias)  # pyright: ignore[reportReturnType]
    return _product(states, weight, bias)


@contextmanager
def computed_in(precision: Precision, device: torch.device) -> Iterator[None]:
    """Compute forward passes in this precision inside the block; parameters stay float32."""
    if precision == "bfloat16":
        context = torch.autocast(device.type, torch.bfloat16)
    else:
        context = _LinearByOneDNN() if device.type == "cpu" and has_onednn() else nullcontext()
    with context:
        yield


@contextmanager
def inference() -> Iterator[None]:
    """Disable gradients inside the block and convert each weight to oneDNN's layout only once.

    Results are bit-identical. Inside the block, converted weights are held in memory twice.
    """
    before = _reordered_weights.get()
    _reordered_weights.set({} if before is None else before)
    try:
        with torch.inference_mode():
            yield
    finally:
        _reordered_weights.set(before)


class _LinearByOneDNN(TorchFunctionMode):
    """Replace `torch.nn.functional.linear` by `linear` in models from other libraries."""

    def __torch_function__(
        self, func: Callable, types: Sequence[type], args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is functional.linear:
            func = linear
        return func(*args, **kwargs) if kwargs else func(*args)


def has_onednn() -> bool:
    """Whether products use oneDNN; ``torch.backends.mkldnn.enabled = False`` switches it off."""
    return HAS_MKL_AND_ONEDNN and torch.backends.mkldnn.enabled  # pyright: ignore[reportReturnType]


def _uses_onednn(states: torch.Tensor, weight: torch.Tensor) -> bool:
    return (
        states.device.type == weight.device.type == "cpu"
        and states.dtype == weight.dtype == torch.float32
        and states.numel() * len(weight) >= MIN_MULTIPLICATIONS
        and has_onednn()
        and not torch.is_autocast_enabled("cpu")
    )


def _product(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise(states, _onednn_layout(weight), bias, "none", [], "")


def _onednn_layout(weight: torch.Tensor) -> torch.Tensor:
    """Return a parameter in oneDNN's layout from the cache; intermediate results are returned as they are."""
    cache = _reordered_weights.get()
    if cache is None or not isinstance(weight, nn.Parameter) or weight.is_inference():
        return weight
    if id(weight) not in cache or cache[id(weight)][1] != weight._version:
        layout = torch.ops.mkldnn._reorder_linear_weight(weight)
        cache[id(weight)] = weight, weight._version, layout  # holding the weight keeps its id unique
    return cache[id(weight)][2]


class _Linear(torch.autograd.Function):
    """oneDNN's product with gradients, which PyTorch provides for MKL only."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(states, weight)
        return _product(states, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # pyright: ignore
        states, weight = ctx.saved_tensors
        for_states, for_weight, for_bias = ctx.needs_input_grad
        flat = gradient.flatten(0, -2)
        return (
            _product(gradient, weight.t(), None) if for_states else None,
            _product(flat.t(), states.flatten(0, -2).t(), None) if for_weight else None,
            flat.sum(0) if for_bias else None,
        )
