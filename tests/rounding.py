"""Another machine's rounding, on this one.

Processors, thread counts and libraries sum products in different orders, which moves the last bits of a result. Within
`OtherRounding` every product and sum is multiplied by one plus a noise of a few units in the last place. The noise
depends on the sizes and a seed alone: what one machine promises still holds (the same computation, the same bits), and
equal sums that are computed in other shapes agree no better than they must. Sums of whole numbers stay exact, as they
are everywhere. A test that fails within leans on the rounding of the machine it was written on.
"""

import zlib
from functools import lru_cache

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ROUNDED = frozenset(
    {
        "mm",
        "addmm",
        "bmm",
        "baddbmm",
        "linear",
        "matmul",
        "addmv",
        "mv",
        "sum",
        "mean",
        "_linear_pointwise",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "_softmax",
        "_softmax_backward_data",
        "_log_softmax_backward_data",
        "native_layer_norm",
        "native_layer_norm_backward",
        "linalg_vector_norm",
        "_foreach_norm",
    }
)
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
        if func._schema.name.rpartition("::")[2] not in ROUNDED:
            return result
        read = sum(value.numel() for value in args if isinstance(value, torch.Tensor))
        if isinstance(result, tuple | list):
            return type(result)(self._rounded(value, read) for value in result)
        return self._rounded(result, read)

    def _rounded(self, value, read: int):
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.is_mkldnn:
            return value
        noise = _noise(self.seed, read, value.numel(), value.shape[-1] if value.ndim else 1, value.dtype)
        return torch.where(value == value.round(), value, value * noise.view(value.shape))


@lru_cache(maxsize=2048)
def _noise(seed: int, read: int, size: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    generator = torch.Generator().manual_seed(zlib.crc32(f"{seed} {read} {size} {width}".encode()))
    noise = torch.rand(size, generator=generator, dtype=torch.float64) * 2 - 1
    return (1 + UNITS * torch.finfo(dtype).eps * noise).to(dtype)
