"""Windows as the tensors an encoder reads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from crosslens.data.windows import Window


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Windows padded to one length.

    Attributes:
        windows: the windows, in the batch's order.
        ids: ``(windows, length)`` int64.
        mask: ``(windows, length)`` int64, 1 where ``ids`` is no padding.
        places: ``(words,)`` int64: where in the flattened ``windows x length`` the labelled piece of each word
            that the windows answer for is, window by window.
    """

    windows: tuple[Window, ...]
    ids: torch.Tensor
    mask: torch.Tensor
    places: torch.Tensor

    def at_words(self, states: torch.Tensor) -> torch.Tensor:
        """The states of the words answered for: ``(windows, length, width)`` to ``(words, width)``."""
        return states.flatten(0, 1)[self.places]


def reading_budget(device: torch.device) -> int:
    """Subwords read at once where nothing is trained: on a CPU more is slower, a GPU wants to be filled."""
    return 1024 if device.type == "cpu" else 16384


def make_batch(windows: Sequence[Window], *, padding: int, device: torch.device) -> Batch:
    """Pad windows on the right, and copy them to the device."""
    length = max(len(window) for window in windows)
    ids = np.full((len(windows), length), padding, np.int64)
    mask = np.zeros((len(windows), length), np.int64)
    for row, window in enumerate(windows):
        ids[row, : len(window)] = window.ids
        mask[row, : len(window)] = 1
    places = np.concatenate([row * length + window.labelled for row, window in enumerate(windows)])
    tensors = (torch.from_numpy(array).to(device, non_blocking=True) for array in (ids, mask, places))
    return Batch(tuple(windows), *tensors)
