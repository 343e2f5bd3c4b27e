"""Another machine's rounding, on this one.

Processors, thread counts and libraries sum products in different orders, which moves the last bits of a result. Within
`OtherRounding` every product and sum is multiplied by one plus a noise of a few units in the last place. The noise
depends on the operation, the shapes and a seed alone: what one machine promises still holds (the same computation, the
same bits), and equal sums that are computed in other shapes agree no better than they must. A test that fails within
leans on the rounding of the machine it was written on.
"""

import zlib
from collections.abc import Iterable
from functools import lru_cache

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ROUNDED = frozenset(
    {"mm", "addmm", "bmm", "baddbmm", "linear", "matmul", "addmv", "mv", "sum", "mean", "_linear_pointwise",
     "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward",
     "_softmax", "_softmax_backward_data", "_log_softmax_backward_data", "native_layer_norm",
     "native_layer_norm_backward", "linalg_vector_norm", "_foreach_norm"}
)  # fmt: skip
UNITS = 4
"""In the last place: what sums of some hundred products differ by."""


class OtherRounding(TorchDispatchMode):
    """Products and sums as a machine would round them that `seed` stands for.

    Args:
        seed: machines of different seeds round differently.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func._schema.name.rpartition("::")[2]
        if name not in ROUNDED:
            return result
        place = f"{self.seed} {name} {[tuple(tensor.shape) for tensor in _tensors(args)]}"
        if isinstance(result, tuple | list):
            return type(result)(_rounded(value, f"{place} {number}") for number, value in enumerate(result))
        return _rounded(result, place)


def _tensors(values: Iterable) -> list[torch.Tensor]:
    return [value for value in values if isinstance(value, torch.Tensor)]


def _rounded(value, place: str):
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.is_mkldnn:
        return value
    return value * _noise(place, value.shape, value.dtype)


@lru_cache(maxsize=2048)
def _noise(place: str, shape: torch.Size, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(zlib.crc32(place.encode()))
    noise = torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1
    return (1 + UNITS * torch.finfo(dtype).eps * noise).to(dtype)
