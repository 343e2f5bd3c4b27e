"""Choose the kernels of PyTorch's attention on a GPU."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

PLANLESS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Kernels that need no plan for a new shape, the fastest first."""


def attention_kernels(device: torch.device) -> AbstractContextManager[None]:
    """Compute attention without cuDNN inside the block.

    On NVIDIA's GPUs from the H100 on, PyTorch prefers cuDNN, which makes a plan for every new shape. On an H200, with
    PyTorch 2.11, a plan took 160 ms (the first ones over 2 s), and batches of sentences have many shapes. Known shapes
    took 0.8 ms with cuDNN, forwards and backwards, and 0.6 ms with the other kernels.
    """
    return sdpa_kernel(PLANLESS, set_priority=False) if device.type == "cuda" else nullcontext()  # pyright: ignore
