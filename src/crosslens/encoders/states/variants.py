"""One encoder under several interventions on states: what is below the lowest changed layer is computed once."""

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import torch
from torch import nn

from crosslens.data.corpus import Corpus
from crosslens.data.windows import Window
from crosslens.encoders.batch import Batch, make_batch
from crosslens.encoders.encoder import Encoder, layer_outputs
from crosslens.encoders.entering import separate_layers
from crosslens.encoders.states.corpus_states import CorpusStates

_entered: WeakKeyDictionary[nn.Module, bool] = WeakKeyDictionary()
"""Model -> whether its layers can be entered."""


class Variants:
    """States of a corpus by one encoder under several interventions on states.

    For each batch, the states that no intervention changes are computed once and held until the last variant is
    computed; a variant computes its lowest changed layer and those above. All states are bit-identical to those of each
    variant alone. Where layers cannot be entered from outside (`can_enter`), each variant is computed in full.

    Args:
        encoders: encoders with the same model, which differ in interventions on states.
    """

    def __init__(self, encoders: Sequence[Encoder], windows: Sequence[Window], corpus: Corpus) -> None:
        own = [encoder.for_language(corpus.language) for encoder in encoders]
        self._clean = own[0].unedited
        clean = CorpusStates(self._clean, windows, corpus)
        self._encoders = [encoder.prepared(windows, corpus, clean=clean) for encoder in own]
        self._heights = [height(encoder) for encoder in self._encoders]
        shares = len(self._heights) > 1 and max(self._heights) > 0 and len(windows) > 0
        if not (shares and can_enter(self._clean, windows)):
            self._heights = [0] * len(self._heights)

    def __call__(self, batch: Batch) -> Iterator[torch.Tensor]:
        """Compute the states that a task head reads, ``(windows, length, output width)``, of one variant at a time."""
        inputs = (batch.ids, batch.mask, batch.segments)
        highest = max(self._heights)
        outputs: dict[int, torch.Tensor] = {}
        if highest:
            layers = layer_outputs(self._clean, *inputs, highest=highest)
            outputs = {layer: layers[layer] for layer in set(self._heights) - {0}}
            del layers
        for encoder, layer in zip(self._encoders, self._heights, strict=True):
            entry = (layer, outputs[layer]) if layer else None
            yield encoder.states(*inputs, entry=entry)


def height(encoder: Encoder) -> int:
    """Return the highest layer whose output no intervention on states changes; 0 if it is the embeddings or unknown."""
    if encoder.readout is not None:  # it reads lower layers too
        return 0
    changed = [site.layer for edit in encoder.edits for site in edit.places]
    return max(0, min(changed, default=encoder.depth + 1) - 1)


def can_enter(encoder: Encoder, windows: Sequence[Window]) -> bool:
    """Whether every layer gives the same bits from the kept output of any lower layer; tried on two windows.

    It does not where layers share modules or pass on more than states, such as the position bias of T5, or return
    tuples. The answer is cached.
    """
    model = encoder.model
    if model not in _entered:
        possible = separate_layers(encoder) and not encoder.family.shared
        _entered[model] = possible and _same_from_every_layer(encoder, windows[:2])
    return _entered[model]


def _same_from_every_layer(encoder: Encoder, windows: Sequence[Window]) -> bool:
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    inputs = (batch.ids, batch.mask, batch.segments)
    outputs = layer_outputs(encoder, *inputs)
    expected = encoder.states(*inputs)
    try:
        for layer in range(1, encoder.depth + 1):
            entry = (layer, outputs[layer])
            above = layer_outputs(encoder, *inputs, entry=entry)[layer:]
            states = encoder.states(*inputs, entry=entry)
            if not all(map(_identical, [*above, states], [*outputs[layer:], expected])):
                return False
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
        return False
    return True


def _identical(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have the same bits in the same order in memory, on which the rounding of sums depends."""
    return a.stride() == b.stride() and torch.equal(a, b)
