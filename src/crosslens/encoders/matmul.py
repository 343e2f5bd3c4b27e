"""How matrix products are computed: in bfloat16, or in float32 by the fastest library that torch has at hand.

On x86 torch leaves float32 products to MKL, which uses the widest instructions on Intel's processors only. oneDNN,
which torch carries for other types, uses what a processor has: with AVX-512 on one of AMD's it is twice as fast, with
AVX2 as fast. Sums are taken in another order, so results differ by rounding.
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

CARRIED = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()
"""Whether this is a torch for x86 that carries both."""

# For every shape that it has met oneDNN keeps half a MiB, 1,024 shapes here and as many in torch: gigabytes, as batches
# are of any length. A step needs some twenty, again in every layer.
for _name in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.setdefault(_name, "64")

WORTHWHILE = 1 << 21
"""Multiplications of a product from which on oneDNN is faster: it takes some 15 microseconds to be called."""

_ordered: ContextVar[dict[int, tuple[torch.Tensor, int, torch.Tensor]] | None] = ContextVar("_ordered", default=None)
"""Weights by their identities: each, its version, and how oneDNN orders it; None where they are trained."""


def linear(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """``(…, inputs)`` and ``(outputs, inputs)`` to ``(…, outputs)``: `torch.nn.functional.linear`, often faster."""
    if not _by_onednn(states, weight):
        return functional.linear(states, weight, bias)
    if torch.is_grad_enabled() and any(its is not None and its.requires_grad for its in (states, weight, bias)):
        return _Linear.apply(states, weight, bias)  # pyright: ignore[reportReturnType]
    return _product(states, weight, bias)


@contextmanager
def computed_in(precision: Precision, device: torch.device) -> Iterator[None]:
    """Within, a model's passes are computed in this precision; parameters are float32 either way."""
    if precision == "bfloat16":
        context = torch.autocast(device.type, torch.bfloat16)
    else:
        context = _Linears() if device.type == "cpu" and has_onednn() else nullcontext()
    with context:
        yield


@contextmanager
def inference() -> Iterator[None]:
    """Within, nothing is trained: no gradients, and weights stay, so that oneDNN orders each for itself only once.

    The results are the same to the bit. For as long, the weights of products are held twice.
    """
    before = _ordered.get()
    _ordered.set({} if before is None else before)
    try:
        with torch.inference_mode():
            yield
    finally:
        _ordered.set(before)


class _Linears(TorchFunctionMode):
    """What asks for torch's `linear` gets ours: the layers of a model that others wrote."""

    def __torch_function__(
        self, func: Callable, types: Sequence[type], args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is functional.linear:
            func = linear
        return func(*args, **kwargs) if kwargs else func(*args)


def has_onednn() -> bool:
    """Whether products go through oneDNN here; ``torch.backends.mkldnn.enabled = False`` has torch compute them."""
    return CARRIED and torch.backends.mkldnn.enabled  # pyright: ignore[reportReturnType]


def _by_onednn(states: torch.Tensor, weight: torch.Tensor) -> bool:
    return (
        states.device.type == weight.device.type == "cpu"
        and states.dtype == weight.dtype == torch.float32
        and states.numel() * len(weight) >= WORTHWHILE
        and has_onednn()
        and not torch.is_autocast_enabled("cpu")
    )


def _product(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    return torch.ops.mkldnn._linear_pointwise(states, _in_order(weight), bias, "none", [], "")


def _in_order(weight: torch.Tensor) -> torch.Tensor:
    """A model's weight as oneDNN wants it, where that is kept; what is computed on the way is used once."""
    ordered = _ordered.get()
    if ordered is None or not isinstance(weight, nn.Parameter) or weight.is_inference():
        return weight
    if id(weight) not in ordered or ordered[id(weight)][1] != weight._version:
        in_order = torch.ops.mkldnn._reorder_linear_weight(weight)
        ordered[id(weight)] = weight, weight._version, in_order  # the weight too, so that no other gets its identity
    return ordered[id(weight)][2]


class _Linear(torch.autograd.Function):
    """oneDNN's product with its gradients, which torch has for MKL's alone."""

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
