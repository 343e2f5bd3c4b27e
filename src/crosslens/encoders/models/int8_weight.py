"""Weights in eight bits: one byte for each number, and a factor for each row.

A module computes with such a weight as with the float32 matrix that it stands for, which exists only during a product:
results have the same bits, whatever the number format of the pass. Writing into one is refused; `hold_in_float32`
(`crosslens.encoders.models.held_weights`) makes it an ordinary weight again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.utils._pytree import tree_map_only

LARGEST = 127
"""Largest number of a row in eight bits; symmetric, so that zero stays zero."""

_aten: Any = torch.ops.aten
_OF_EACH_PART = (_aten.detach.default, _aten.clone.default)


class Int8Weight(torch.Tensor):
    """The weight of a linear module in eight bits, and a low-rank update of it that may have been trained.

    Attributes:
        codes: ``(outputs, inputs)`` int8.
        factors: ``(outputs, 1)`` float32; the weight is ``codes * factors``.
        left: ``(outputs, rank)`` float32, the first factor of the update; without columns: none.
        right: ``(rank, inputs)`` float32, the second one.
    """

    codes: torch.Tensor
    factors: torch.Tensor
    left: torch.Tensor
    right: torch.Tensor

    @staticmethod
    def __new__(cls: type, codes: torch.Tensor, *_: torch.Tensor) -> "Int8Weight":
        """Look like a float32 matrix of the same shape to all code that does not know this class."""
        return torch.Tensor._make_wrapper_subclass(cls, codes.shape, dtype=torch.float32, device=codes.device)

    def __init__(self, codes: torch.Tensor, factors: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> None:
        self.codes, self.factors, self.left, self.right = codes, factors, left, right

    @classmethod
    def rounded(cls, weight: torch.Tensor) -> Self:
        """Round a matrix to eight bits: each row to multiples of its largest magnitude divided by 127."""
        weight = weight.detach().float()
        largest = weight.abs().amax(1, keepdim=True)
        factors = torch.where(largest == 0, 1.0, largest / LARGEST)  # nan stays nan
        outputs, inputs = weight.shape
        codes = (weight / factors).round().to(torch.int8)
        return cls(codes, factors, weight.new_empty(outputs, 0), weight.new_empty(0, inputs))

    def updated(self, left: torch.Tensor, right: torch.Tensor) -> "Int8Weight":
        """Return this weight plus a low-rank product, which stays in float32."""
        return Int8Weight(self.codes, self.factors, torch.cat([self.left, left], 1), torch.cat([self.right, right]))

    def dense(self) -> torch.Tensor:
        """The float32 matrix."""
        matrix = self.codes.to(torch.float32).mul_(self.factors)
        return matrix.addmm_(self.left, self.right) if len(self.right) else matrix

    @property
    def nbytes(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Bytes in memory."""
        return sum(part.nbytes for part in self._parts)

    @property
    def _parts(self) -> tuple[torch.Tensor, ...]:
        return self.codes, self.factors, self.left, self.right

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        """Names of the parts, by which PyTorch knows that it can move such a weight to another device."""
        return ["codes", "factors", "left", "right"], None

    @staticmethod
    def __tensor_unflatten__(parts: Mapping[str, torch.Tensor], *_: Any) -> "Int8Weight":
        """Put the parts together again."""
        return Int8Weight(**parts)

    @classmethod
    def __torch_function__(
        cls, func: Callable, types: Sequence[type], args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func is functional.linear:
            return _linear(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Sequence[type], args: tuple = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        first = args[0] if args else None
        if isinstance(first, Int8Weight):
            if func in _OF_EACH_PART:
                return Int8Weight(*map(func, first._parts))
            if func is _aten._to_copy.default and kwargs.get("dtype") in (None, torch.float32):
                return Int8Weight(*(part.to(kwargs.get("device"), copy=True) for part in first._parts))
            if func._schema.is_mutable:
                raise RuntimeError("a weight in eight bits cannot be written to: hold it in float32 first")
        dense = tree_map_only(Int8Weight, Int8Weight.dense, (args, kwargs))
        return func(*dense[0], **dense[1])


def _linear(states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    kind = states.device.type
    if torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind):
        states = states.to(torch.get_autocast_dtype(kind))  # the matrix follows, and torch converts the bias
    return _Linear.apply(states, weight, bias)  # pyright: ignore[reportReturnType]


class _Linear(torch.autograd.Function):
    """A product with a weight in eight bits, which is made float32 again for the backward pass, not kept."""

    @staticmethod
    def forward(ctx: Any, states: torch.Tensor, weight: Int8Weight, bias: torch.Tensor | None) -> torch.Tensor:
        ctx.weight = weight
        return functional.linear(states, weight.dense().to(states.dtype), bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:  # pyright: ignore
        for_states, _, for_bias = ctx.needs_input_grad
        return (
            gradient @ ctx.weight.dense().to(gradient.dtype) if for_states else None,
            None,
            gradient.flatten(0, -2).sum(0) if for_bias else None,
        )
