"""Precision of matrix products, and faster float32 products on x86 processors.

On x86, PyTorch computes float32 products with MKL, which uses the widest instructions only on Intel processors. oneDNN,
which PyTorch also includes, is twice as fast on AMD processors with AVX-512 and as fast with AVX2. On Intel processors
it is slower. It sums in another order, so that rounding differs.

The choice depends on the maker of the processor and never on a measurement: the same command gives the same bits on
the same machine, however busy that is. The variable CROSSLENS_ONEDNN (1 or 0) overrides it, and
``torch.backends.mkldnn.enabled = False`` also switches oneDNN off. PyTorch has no public operator for such products:
with ``Tensor.to_mkldnn``, all states would be copied twice for each product.
"""

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from crosslens.encoders.gpu.attention import attention_kernels
from crosslens.encoders.options import ONLY_IN_FLOAT32, Precision
from crosslens.environment import switch
from crosslens.errors import require_known

HAS_MKL_AND_ONEDNN = (
    torch.backends.mkl.is_available()
    and torch.backends.mkldnn.is_available()
    and all(hasattr(torch.ops.mkldnn, name) for name in ("_linear_pointwise", "_reorder_linear_weight"))
)
"""Whether this build of PyTorch includes both MKL and oneDNN, as those for x86 do, and calls oneDNN directly."""

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
    """Compute forward passes in this precision inside the block, with the fastest kernels; no parameter is changed.

    The ``meta`` device, which computes nothing, keeps float32.
    """
    if precision == "bfloat16" and device.type != "meta":
        context = torch.autocast(device.type, torch.bfloat16)
    else:
        context = _LinearByOneDNN() if device.type == "cpu" and has_onednn() else nullcontext()
    with attention_kernels(device), context:
        yield


def find_precision(name: Precision | Literal["auto"], device: torch.device, *, family: str | None = None) -> Precision:
    """Return a number format by name; ``auto``: bfloat16 if the device computes it faster than float32.

    Args:
        family: family of the encoder, which may be computed only in float32; None: any.

    Raises:
        RequestError: for an unknown name.
    """
    if name == "auto":
        return "bfloat16" if has_fast_bfloat16(device) and family not in ONLY_IN_FLOAT32 else "float32"
    require_known(name, (*get_args(Precision), "auto"), "unknown precision")
    return name


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 faster than float32: by tensor cores, or by AMX or AVX-512 instructions."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and not _processor_features().isdisjoint(("amx_bf16", "avx512_bf16", "bf16"))


@cache
def _processor_features() -> frozenset[str]:
    """Maker and instruction sets of the processor, among other words, as Linux lists them; empty on other systems."""
    file = Path("/proc/cpuinfo")
    return frozenset(file.read_text().split()) if file.exists() else frozenset()


def slowness(precision: Precision, device: torch.device) -> str | None:
    """Return a warning if a device computes this precision more slowly than float32; None otherwise."""
    if precision == "float32" or device.type == "meta" or has_fast_bfloat16(device):
        return None
    lacks = "has neither AMX nor AVX-512 bfloat16 instructions" if device.type == "cpu" else "does not support it"
    faster = "the precision auto (--precision auto) is the faster one"
    return f"{precision} is slower than float32 on this device, which {lacks}; {faster}"


@contextmanager
def inference() -> Iterator[None]:
    """Disable gradients inside the block and convert each weight to oneDNN's layout only once.

    Weights are also converted to bfloat16 only once. Results are bit-identical. Inside the block, converted weights
    are held in memory twice.
    """
    before = _reordered_weights.get()
    _reordered_weights.set({} if before is None else before)
    torch.autocast_increment_nesting()  # the end of the outermost block empties torch's cache of bfloat16 weights
    try:
        with torch.inference_mode():
            yield
    finally:
        if torch.autocast_decrement_nesting() == 0:
            torch.clear_autocast_cache()
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
    """Whether float32 products use oneDNN: except on Intel processors, unless CROSSLENS_ONEDNN says otherwise."""
    chosen = switch("CROSSLENS_ONEDNN")
    wanted = not _is_intel() if chosen is None else chosen
    return HAS_MKL_AND_ONEDNN and wanted and torch.backends.mkldnn.enabled  # pyright: ignore[reportReturnType]


@cache
def _is_intel() -> bool:
    return "GenuineIntel" in {*_processor_features(), *platform.processor().replace(",", " ").split()}


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
    """Return a parameter in oneDNN's layout from the cache; intermediate results are returned as they are.

    So are parameters of other classes: a weight in eight bits would stay in the cache as float32.
    """
    cache = _reordered_weights.get()
    if cache is None or type(weight) is not nn.Parameter or weight.is_inference():
        return weight
    if id(weight) not in cache or cache[id(weight)][1] != weight._version:
        layout = torch.ops.mkldnn._reorder_linear_weight(weight)
        cache[id(weight)] = weight, weight._version, layout  # holding the weight keeps its id unique
    return cache[id(weight)][2]


class _Linear(torch.autograd.Function):
    """oneDNN's product with gradients, which PyTorch provides for MKL only."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.save_for_backward(states if ctx.needs_input_grad[1] else None, weight)
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
