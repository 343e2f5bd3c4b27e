"""The states of batches; what of an encoder is frozen, and has no dropout, is computed once a window and kept.

Training goes over the same windows again and again. As long as the bottom of the encoder does not change, neither do
its states: they are computed once, and each step begins where the trained layers do.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from crosslens.data.batching import evaluation_batches
from crosslens.data.windows import Window
from crosslens.encoders.batch import Batch, make_batch, reading_budget
from crosslens.encoders.encoder import Encoder, layer_outputs
from crosslens.encoders.matmul import inference
from crosslens.encoders.options import Precision

TOLERANCE = 1e-4
"""How far the states of the first windows may be from those that are computed whole, relative to their size."""


class StateCache:
    """What a task's head reads of batches: call it with one.

    Args:
        encoder: put into the mode, training or evaluation, that the caller wants.
        precision: what it computes in.
    """

    def __init__(self, encoder: Encoder, *, precision: Precision = "float32") -> None:
        self.encoder = encoder
        self._precision: Precision = precision
        self._depth = frozen_depth(encoder)
        self._places: dict[int, int] = {}  # window's identity -> its row in the file
        self._kept: np.ndarray | None = None

    def __call__(self, batch: Batch) -> torch.Tensor:
        """The last states, ``(windows, length, width)``."""
        if self._kept is not None and all(id(window) in self._places for window in batch.windows):
            return self._resumed(batch, self._of(batch))
        return self.encoder.states(batch.ids, batch.mask, batch.segments, precision=self._precision)

    @inference()
    def keep(self, windows: Sequence[Window]) -> bool:
        """Compute the frozen bottom's states of these windows, and keep them in a temporary file.

        Returns:
            Whether they are kept. They are not where nothing is frozen, where this architecture's layers cannot be
            begun in the middle, or where the disk has no room.
        """
        if not self._depth or not windows or not _can_resume(self.encoder):
            return False
        padding, device = self.encoder.padding, self.encoder.device
        self.encoder.model.eval()
        if not self._agrees(make_batch(windows[:2], padding=padding, device=device)):
            return False
        lengths = [len(window) for window in windows]
        sizes = np.asarray(lengths)
        layers = 1 if self.encoder.readout is None else len(self.encoder.readout.layers)
        shape = (int(sizes.sum()), layers * self.encoder.width)
        if shutil.disk_usage(tempfile.gettempdir()).free < 1.1 * 4 * shape[0] * shape[1]:
            return False
        with tempfile.TemporaryFile() as file:  # what is mapped outlives it
            kept = np.memmap(file, np.float32, "w+", shape=shape)
        starts = np.cumsum(sizes) - sizes
        for numbers in evaluation_batches(lengths, budget=reading_budget(device)):
            batch = make_batch([windows[i] for i in numbers], padding=padding, device=device)
            flat = self._computed(batch).cpu().numpy()
            for row, number in enumerate(numbers):
                kept[starts[number] : starts[number] + sizes[number]] = flat[row, : sizes[number]]
        self._kept = kept
        self._places = {id(window): int(start) for window, start in zip(windows, starts, strict=True)}
        self._windows = tuple(windows)  # alive, so that no other window gets one of their identities
        return True

    def _computed(self, batch: Batch) -> torch.Tensor:
        """What is kept of a batch: ``(windows, length, values)``."""
        top = self.encoder.readout
        outputs = layer_outputs(
            self.encoder, batch.ids, batch.mask, batch.segments, precision=self._precision,
            highest=self._depth if top is None else max(top.layers),
        )  # fmt: skip
        return outputs[-1].float() if top is None else top.select(outputs).movedim(0, 2).flatten(2)

    def _of(self, batch: Batch) -> torch.Tensor:
        assert self._kept is not None
        values = np.zeros((*batch.ids.shape, self._kept.shape[1]), np.float32)
        for row, window in enumerate(batch.windows):
            start = self._places[id(window)]
            values[row, : len(window)] = self._kept[start : start + len(window)]
        return torch.from_numpy(values).to(batch.ids.device)

    def _resumed(self, batch: Batch, kept: torch.Tensor) -> torch.Tensor:
        """The last states, from what is kept of the batch."""
        encoder = self.encoder
        if encoder.readout is not None:
            layers = kept.unflatten(2, (len(encoder.readout.layers), -1)).movedim(2, 0)
            return encoder.read_out(layers, batch.mask)
        with _beginning_above(encoder, self._depth, kept):
            return encoder.states(batch.ids, batch.mask, batch.segments, precision=self._precision)

    def _agrees(self, batch: Batch) -> bool:
        """Whether going on from what would be kept gives what computing everything gives."""
        try:
            resumed = self._resumed(batch, self._computed(batch))
        except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
            return False  # layers of this architecture hand something else on as well
        whole = self.encoder.states(batch.ids, batch.mask, batch.segments, precision=self._precision)
        there = batch.mask.bool()
        near = TOLERANCE if self._precision == "float32" else 1e-1
        return bool((resumed - whole)[there].abs().max() <= near * whole[there].abs().max())


def frozen_depth(encoder: Encoder) -> int:
    """The highest layer that is frozen together with all below it, the embeddings too; 0 where there is none."""
    inside = {id(parameter) for layer in encoder.layers for parameter in layer.parameters()}
    named = encoder.model.named_parameters()
    tables = [p for n, p in named if id(p) not in inside and n.startswith(encoder.family.embeddings)]
    if any(parameter.requires_grad for parameter in (*tables, *encoder.shared.values())):
        return 0
    for layer in range(1, encoder.depth + 1):
        if any(parameter.requires_grad for parameter in encoder.own(layer).values()):
            return layer - 1
    return encoder.depth


def frozen_parts(encoder: Encoder) -> Iterator[nn.Module]:
    """The modules of the embeddings and layers that training leaves alone."""
    for part in (*encoder.embeddings, *encoder.layers):
        if not any(parameter.requires_grad for parameter in part.parameters()):
            yield part


def _can_resume(encoder: Encoder) -> bool:
    """Whether its layers are modules of their own, each called once with the states first."""
    one_each = len({id(layer) for layer in encoder.layers}) == encoder.depth
    return len(encoder.family.layers) == 1 and one_each and not encoder.family.time_first


@contextmanager
def _beginning_above(encoder: Encoder, depth: int, kept: torch.Tensor) -> Iterator[None]:
    """Inside the block the embeddings and the lowest layers do no work: each gives what is kept above them all."""

    def passing(*args: Any, **kwargs: Any) -> torch.Tensor:
        return kept

    lowest = [*encoder.embeddings, *encoder.layers[:depth]]
    for module in lowest:
        module.forward = passing
    try:
        yield
    finally:
        for module in lowest:
            del module.forward
