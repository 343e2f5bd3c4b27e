"""Remove the causal mask of chosen layers of a decoder, by the mask argument of the layers."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn


@contextmanager
def bidirectional(layers: Iterable[nn.Module], mask: torch.Tensor) -> Iterator[None]:
    """Let each subword attend to all others in some layers, in every forward pass inside the block.

    A layer with a sliding window keeps it, in both directions: subwords attend to each other if one of them attended to
    the other before.

    Args:
        layers: layers that `transformers` calls with an attention mask.
        mask: ``(windows, length)``, 0 for padding, to which no subword attends.
    """

    def replace_mask(module: nn.Module, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        states = args[0] if args else kwargs["hidden_states"]
        return args, {**kwargs, "attention_mask": symmetric(kwargs["attention_mask"], mask, states.dtype)}

    with ExitStack() as hooks:
        for layer in layers:
            hooks.enter_context(layer.register_forward_pre_hook(replace_mask, with_kwargs=True))
        yield


def symmetric(causal: torch.Tensor | None, mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Make a causal attention mask symmetric.

    Args:
        causal: ``(windows, 1, length, length)`` bool, or float with 0 where a subword attends; None for a causal mask
            over the whole length, which torch's attention applies itself.
        mask: ``(windows, length)``, 0 for padding.
        dtype: type of the states.

    Returns:
        ``(windows, 1, length, length)``, 0 where a subword attends to another and the least number of the type
        elsewhere, so that it can be added to attention scores.
    """
    keys = mask.bool()[:, None, None, :].expand(-1, -1, mask.shape[1], -1)
    if causal is not None:
        attends = causal if causal.dtype == torch.bool else causal == 0
        keys = keys & (attends | attends.mT)
    return torch.zeros(keys.shape, dtype=dtype, device=mask.device).masked_fill(~keys, torch.finfo(dtype).min)
