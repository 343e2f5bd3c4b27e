"""State cache: compute the states of frozen layers once per window and reuse them in every epoch.

The cache is used only if it agrees with the full computation on the first two windows within `TOLERANCE`, in bfloat16
within a tenth. Cached states have no dropout. Only `StateCache.keep` fills the cache; without that call every batch is
computed in full.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import nn

from crosslens.data.windows import Window
from crosslens.encoders.batch import Batch, make_batch, reading_batches
from crosslens.encoders.encoder import Encoder, layer_outputs
from crosslens.encoders.entering import separate_layers
from crosslens.encoders.matmul import inference

TOLERANCE = 1e-4
"""Largest accepted deviation of cached from fully computed states, relative to the largest state."""


class StateCache:
    """Compute the states that a task head reads, from cached states of frozen layers if available."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._depth = frozen_depth(encoder)
        self._offsets: dict[int, int] = {}  # id of a window -> its first row in the file
        self._cached_states: np.ndarray | None = None

    def __call__(self, batch: Batch) -> torch.Tensor:
        """Compute the states that a task head reads, ``(windows, length, output width)``."""
        if self._cached_states is not None and all(id(window) in self._offsets for window in batch.windows):
            return self._resumed(batch, self._load(batch))
        return self.encoder.states(batch.ids, batch.mask, batch.segments)

    @inference()
    def keep(self, windows: Sequence[Window]) -> bool:
        """Compute the states of the frozen layers for these windows and cache them in a temporary file.

        Returns:
            Whether the states are cached. They are not if the embeddings are trained, if the forward pass of the
            architecture cannot resume after a layer, or if the disk is full.
        """
        if not self._depth or not windows or not separate_layers(self.encoder):
            return False
        padding, device = self.encoder.padding, self.encoder.device
        self.encoder.trained.eval()  # with the readout, whose dropout would make every comparison fail
        if not self._matches_full_computation(make_batch(windows[:2], padding=padding, device=device)):
            return False
        sizes = np.asarray([len(window) for window in windows])
        layers = 1 if self.encoder.readout is None else len(self.encoder.readout.layers)
        shape = (int(sizes.sum()), layers * self.encoder.width)
        if shutil.disk_usage(tempfile.gettempdir()).free < 1.1 * 4 * shape[0] * shape[1]:
            return False
        with tempfile.TemporaryFile() as file:  # the mapping outlives the file object
            states = np.memmap(file, np.float32, "w+", shape=shape)
        starts = np.cumsum(sizes) - sizes
        for numbers, batch in reading_batches(windows, padding=padding, device=device):
            flat = self._computed(batch).cpu().numpy()
            for row, number in enumerate(numbers):
                states[starts[number] : starts[number] + sizes[number]] = flat[row, : sizes[number]]
        self._cached_states = states
        self._offsets = {id(window): int(start) for window, start in zip(windows, starts, strict=True)}
        self._windows = tuple(windows)  # held, so that their ids stay unique
        return True

    def _computed(self, batch: Batch) -> torch.Tensor:
        """Compute the states of a batch to cache: ``(windows, length, values)``."""
        readout = self.encoder.readout
        outputs = layer_outputs(
            self.encoder,
            batch.ids,
            batch.mask,
            batch.segments,
            highest=self._depth if readout is None else max(readout.layers),
        )
        return outputs[-1].float() if readout is None else readout.select(outputs).movedim(0, 2).flatten(2)

    def _load(self, batch: Batch) -> torch.Tensor:
        assert self._cached_states is not None
        values = np.zeros((*batch.ids.shape, self._cached_states.shape[1]), np.float32)
        for row, window in enumerate(batch.windows):
            start = self._offsets[id(window)]
            values[row, : len(window)] = self._cached_states[start : start + len(window)]
        return torch.from_numpy(values).to(batch.ids.device)

    def _resumed(self, batch: Batch, cached: torch.Tensor) -> torch.Tensor:
        """Compute the states that a task head reads from cached states."""
        encoder = self.encoder
        if encoder.readout is not None:
            layers = cached.unflatten(2, (len(encoder.readout.layers), -1)).movedim(2, 0)
            return encoder.read_out(layers, batch.mask)
        entry = (self._depth, cached)
        return encoder.states(batch.ids, batch.mask, batch.segments, entry=entry)

    def _matches_full_computation(self, batch: Batch) -> bool:
        """Whether states computed from cached ones agree with the full computation."""
        try:
            resumed = self._resumed(batch, self._computed(batch))
        except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
            return False  # the layers pass more than states to one another
        expected = self.encoder.states(batch.ids, batch.mask, batch.segments)
        subwords = batch.mask.bool()
        tolerance = TOLERANCE if self.encoder.precision == "float32" else 1e-1
        return bool((resumed - expected)[subwords].abs().max() <= tolerance * expected[subwords].abs().max())


def frozen_depth(encoder: Encoder) -> int:
    """Return the highest layer that is frozen together with all lower layers and the embeddings; 0 if there is none."""
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
    """Yield the modules of the embeddings and layers that are frozen."""
    for part in (*encoder.embeddings, *encoder.layers):
        if not any(parameter.requires_grad for parameter in part.parameters()):
            yield part
