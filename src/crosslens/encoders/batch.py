"""Padded batches of windows: the tensors that an encoder reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from crosslens.data.batching import evaluation_batches
from crosslens.data.windows import Window, by_sentence


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Windows padded to one length.

    Attributes:
        windows: windows in batch order; those of one sentence are adjacent and in order.
        ids: ``(windows, length)`` int64 subword ids.
        mask: ``(windows, length)`` int64, 0 for padding.
        word_index: ``(words,)`` int64 index of each word's labelled subword in the flattened ``windows x length``, in
            the order of windows and sentences.
        lengths: number of words of each sentence.
        segments: ``(windows, length)`` int64 segment (0 or 1) of each subword of a text pair; None without pairs.
        word_features: ``(words,)`` int64 additional input of the task head for each word; None without one.
    """

    windows: tuple[Window, ...]
    ids: torch.Tensor
    mask: torch.Tensor
    word_index: torch.Tensor
    lengths: tuple[int, ...]
    segments: torch.Tensor | None = None
    word_features: torch.Tensor | None = None

    def word_states(self, states: torch.Tensor) -> torch.Tensor:
        """Select the state of each word's labelled subword: ``(windows, length, width)`` to ``(words, width)``."""
        return states.flatten(0, 1)[self.word_index]

    def mean_states(self, states: torch.Tensor) -> torch.Tensor:
        """Average the states in the span of each window: ``(windows, length, width)`` to ``(windows, width)``."""
        inside = torch.zeros(self.mask.shape, dtype=states.dtype)
        for row, window in enumerate(self.windows):
            inside[row, slice(*window.span)] = 1 / max(1, window.span[1] - window.span[0])
        return torch.bmm(inside.to(states.device)[:, None], states)[:, 0]

    def sentence_states(self, states: torch.Tensor) -> torch.Tensor:
        """Return a state per sentence, ``(sentences, width)``: that of the special token before it, or else after it.

        Some tokenizers, such as Qwen's, add no special token to a sentence. There it is the mean over the subwords of
        its last window, which differs from the state of every word.
        """
        groups, positions = by_sentence(self.windows), []
        ends = np.cumsum([len(group) for group in groups]).tolist()
        for group, end in zip(groups, ends, strict=True):
            if group[0].before:
                positions.append((end - len(group)) * self.ids.shape[1])
            elif group[-1].span[1] < len(group[-1]):
                positions.append((end - 1) * self.ids.shape[1] + len(group[-1]) - 1)
            else:
                return self.mean_states(states)[[end - 1 for end in ends]]
        return states.flatten(0, 1)[torch.tensor(positions, device=states.device)]


def reading_budget(device: torch.device) -> int:
    """Maximum subwords per inference batch: larger batches are slower on a CPU, smaller ones underuse a GPU."""
    return 1024 if device.type == "cpu" else 16384


def make_batch(windows: Sequence[Window], *, padding: int, device: torch.device) -> Batch:
    """Pad windows on the right and copy them to the device."""
    sizes = np.asarray([len(window) for window in windows])
    rows, length = len(sizes), int(sizes.max())
    inside = np.arange(length) < sizes[:, None]

    def padded(values: Sequence[np.ndarray], filling: int) -> torch.Tensor:
        array = np.full((rows, length), filling, np.int64)
        array[inside] = np.concatenate(values)
        return on_device(array)

    def on_device(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(device, non_blocking=True)

    labelled = [window.labelled for window in windows]
    first_subwords = np.repeat(length * np.arange(rows), [len(positions) for positions in labelled])
    segments = None
    if any(window.segments is not None for window in windows):
        none = np.zeros(length, np.int64)
        segments = padded([none[: len(w)] if w.segments is None else w.segments for w in windows], 0)
    return Batch(
        tuple(windows),
        ids=padded([window.ids for window in windows], padding),
        mask=on_device(inside.astype(np.int64)),
        word_index=on_device(first_subwords + np.concatenate(labelled)),
        lengths=tuple(sum(w.last - w.first for w in group) for group in by_sentence(windows)),
        segments=segments,
    )


def reading_batches(
    windows: Sequence[Window], *, padding: int, device: torch.device
) -> Iterator[tuple[np.ndarray, Batch]]:
    """Make the batches of an inference pass over windows; yield the indices of their windows with each."""
    for numbers in evaluation_batches([len(window) for window in windows], budget=reading_budget(device)):
        yield numbers, make_batch([windows[i] for i in numbers], padding=padding, device=device)
