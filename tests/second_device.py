"""A second device that computes on the CPU: a tensor left on the other device raises, as it would with a GPU.

Its tensors hold real numbers. As with CUDA, they cannot become NumPy arrays, nor meet tensors of the CPU in one
operation, but for numbers without dimensions and the indices of an index. As with Apple's MPS, they cannot be float64.
So whole commands run on the device and give the numbers of the CPU, and code that forgets a ``.cpu()`` or
``.to(device)`` fails.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import nn
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map

NAME = "second"
aten = torch.ops.aten
CROSSING = (aten.copy_.default, aten._to_copy.default)
"""Operations between devices."""
INDEXING = (
    *(aten.index.Tensor, aten.index_put.default, aten.index_put_.default, aten._index_put_impl_.default),
    *(aten._pack_padded_sequence.default, aten._pad_packed_sequence.default, aten.lstm.data),
)
"""Operations whose second argument, indices or lengths, may be on the CPU."""
WAITING = (
    *(aten._local_scalar_dense.default, aten.nonzero.default, aten.masked_select.default, aten.equal.default),
    *(aten.unique_dim.default, aten._unique2.default, aten.repeat_interleave.Tensor),
)
"""Operations that wait until the device is done, because their result or its size is needed."""
FACTORIES = (
    *(aten.empty.memory_format, aten.empty_strided.default, aten.scalar_tensor.default, aten.randperm.default),
    *(aten.arange.default, aten.arange.start, aten.arange.start_step, aten.linspace.default),
    *(aten.eye.default, aten.eye.m, aten.full.default, aten.tril_indices.default, aten.triu_indices.default),
)
"""Operations that make tensors on a device that they are told."""


_waits: list[list[str]] = []


@contextmanager
def waits() -> Iterator[list[str]]:
    """Collect the operations inside the block for which a program waits for the device, copies among them."""
    _waits.append([])
    try:
        yield _waits[-1]
    finally:
        _waits.pop()


class Second(torch.Tensor):
    """A tensor on the device, around a tensor on the CPU."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> "Second":
        tensor = torch.Tensor._make_wrapper_subclass(
            cls,
            held.size(),
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device(NAME, 0),
        )
        tensor.held = held
        return tensor

    @classmethod
    def __torch_dispatch__(cls, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return _computed(func, args, kwargs or {})

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        if id(self) not in memo:
            copy = Second(self.held.detach().clone())
            is_parameter = isinstance(self, nn.Parameter)
            memo[id(self)] = nn.Parameter(copy, self.requires_grad) if is_parameter else copy
        return memo[id(self)]

    def tolist(self) -> Any:
        return self.held.tolist()  # which torch refuses to subclasses

    def untyped_storage(self) -> torch.UntypedStorage:
        return self.held.untyped_storage()  # by whose address transformers knows shared weights

    def data_ptr(self) -> int:
        return self.held.data_ptr()

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"Second({self.held!r})"


def _computed(func: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
    operands = tree_leaves((args, kwargs))
    here = [operand for operand in operands if isinstance(operand, Second)]
    checked = tree_leaves((args[0], *args[2:])) if func in INDEXING else operands
    elsewhere = [
        operand
        for operand in checked
        if isinstance(operand, torch.Tensor) and not isinstance(operand, Second) and operand.dim()
    ]
    if here and elsewhere and func not in CROSSING:
        raise RuntimeError(f"{func}: expected all tensors on one device, but found {NAME} and {elsewhere[0].device}")
    numbers = [o for o in operands if isinstance(o, torch.Tensor) and not isinstance(o, Second) and not o.dim()]
    _note_waiting(func, args, kwargs, crosses=bool(here and (elsewhere or (numbers and func in CROSSING))))
    target = kwargs.get("device")
    if func is aten.copy_.default:
        stays = isinstance(args[0], Second)
    else:
        stays = bool(here) if target is None else torch.device(target).type == NAME
    if target is not None and stays:
        kwargs = kwargs | {"device": torch.device("cpu"), "pin_memory": None}
    known = {id(operand.held): operand for operand in here}  # operations in place return one of them
    results = KERNELS.get(func, func)(*tree_map(_inner, args), **tree_map(_inner, kwargs))
    if not stays:
        return results
    if func is aten._pack_padded_sequence.default:  # sizes of batches stay on the CPU
        return Second(results[0]), results[1]
    return tree_map(lambda result: known[id(result)] if id(result) in known else _outer(result), results)


def _note_waiting(func: Callable, args: tuple, kwargs: dict[str, Any], *, crosses: bool) -> None:
    target = kwargs.get("device")
    leaves = func is aten._to_copy.default and target is not None and torch.device(target).type != NAME
    by_mask = func in INDEXING and any(getattr(index, "dtype", None) == torch.bool for index in tree_leaves(args[1]))
    if _waits and (func in WAITING or crosses or leaves or by_mask):
        _waits[-1].append(str(func))


def _lstm_cell(inputs: torch.Tensor, hidden: torch.Tensor, cell: torch.Tensor, *biases: torch.Tensor | None) -> Any:
    """The cell that an LSTM calls on a GPU (Hochreiter & Schmidhuber 1997): state, cell, gates."""
    gates = sum((bias for bias in biases if bias is not None), inputs + hidden).chunk(4, 1)
    enter, forget, candidate, leave = (
        torch.tanh(gate) if place == 2 else torch.sigmoid(gate) for place, gate in enumerate(gates)
    )
    cell = forget * cell + enter * candidate
    return leave * torch.tanh(cell), cell, torch.cat([enter, forget, candidate, leave], 1)


def _lstm_cell_backward(
    by_hidden: torch.Tensor | None,
    by_cell: torch.Tensor | None,
    before: torch.Tensor,
    cell: torch.Tensor,
    gates: torch.Tensor,
    has_bias: bool,
) -> Any:
    enter, forget, candidate, leave = gates.chunk(4, 1)
    by_hidden = torch.zeros_like(cell) if by_hidden is None else by_hidden
    through = by_hidden * leave * (1 - torch.tanh(cell) ** 2) + (0 if by_cell is None else by_cell)
    by_gates = torch.cat(
        [
            through * candidate * enter * (1 - enter),
            through * before * forget * (1 - forget),
            through * enter * (1 - candidate**2),
            by_hidden * torch.tanh(cell) * leave * (1 - leave),
        ],
        1,
    )
    return by_gates, through * forget, by_gates.sum(0) if has_bias else None


KERNELS: dict[Any, Callable] = {
    aten._thnn_fused_lstm_cell.default: _lstm_cell,
    aten._thnn_fused_lstm_cell_backward_impl.default: _lstm_cell_backward,
}
"""Operations that the CPU does not have."""


def _inner(value: Any) -> Any:
    return value.held if isinstance(value, Second) else value


def _outer(value: Any) -> Any:
    if getattr(value, "dtype", None) == torch.float64:
        raise TypeError("the device has no float64")
    return Second(value) if isinstance(value, torch.Tensor) else value


def _factory(func: Callable) -> Callable:
    def make(*args: Any, device: Any = None, pin_memory: Any = None, **kwargs: Any) -> Any:
        return _outer(func(*args, device=torch.device("cpu"), **kwargs))

    return make


def _copy_from(source: torch.Tensor, target: Second, non_blocking: bool = False) -> Second:
    if _waits and not isinstance(source, Second):
        _waits[-1].append("copy to the device")
    target.held.copy_(_inner(source))
    return target


class _Module:
    """What torch asks of the device: unavailable, because `torch.utils.checkpoint` takes any available accelerator."""

    def is_available(self) -> bool:
        return False

    def is_initialized(self) -> bool:
        return True

    def device_count(self) -> int:
        return 1

    def current_device(self) -> int:
        return 0

    def manual_seed_all(self, seed: int) -> None:
        pass

    def _is_in_bad_fork(self) -> bool:
        return False


@cache  # torch refuses a second one: mutmut has pytest run several times in a process
def register() -> bool:
    """Add the device to this process, before its first backward pass, which starts a thread for each device.

    Returns:
        Whether this version of torch can.
    """
    setup = getattr(backend_registration, "_setup_privateuseone_for_python_backend", None)
    if setup is None:
        return False
    setup(NAME, backend_module=_Module())
    for func in FACTORIES:
        torch.library.impl(str(func).replace("aten.", "aten::").removesuffix(".default"), "PrivateUse1")(_factory(func))
    torch.library.impl("aten::_copy_from", "PrivateUse1")(_copy_from)
    return True
