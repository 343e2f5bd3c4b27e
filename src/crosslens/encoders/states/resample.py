"""Resampling ablation: replace states by those of another sentence of like length."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from crosslens.encoders.states.state_intervention import Edit, Inputs, StateIntervention
from crosslens.errors import DataError

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.data.windows import Window
    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site


class Resample(StateIntervention):
    """Replace states by those of another, randomly chosen sentence of the corpus of like length.

    Unlike zeros and means, these are states that the encoder computes. First subwords take the states of first
    subwords, last those of last ones; if the other sentence is shorter, its last word is repeated.
    """

    kind = "resample"
    keys: ClassVar = {"resample": "at", "resample_seed": "seed"}

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Choose another sentence for each window.

        Raises:
            DataError: for a corpus of one sentence.
            RequestError: for a corpus that is joined from several languages.
        """
        clean.require_one_language(self)
        return resampled(clean, self.at, partners(clean.windows, seed=seed))


def partners(windows: "Sequence[Window]", *, seed: int) -> list[int]:
    """Choose for each window a window of another sentence: the next longer one, in random order among equal lengths.

    A sentence that repeats the same text is not another sentence: its states would change nothing.

    Raises:
        DataError: for windows of a single sentence.
    """
    order = np.random.default_rng(seed).permutation(len(windows))
    order = order[np.argsort([len(windows[i]) for i in order], kind="stable")].tolist()
    chosen = [0] * len(windows)
    for place, number in enumerate(order):
        candidates = [*order[place + 1 : place + 20], *order[max(0, place - 20) : place][::-1], *order]
        window = windows[number]
        other = next(
            (
                i
                for i in candidates
                if windows[i].sentence != window.sentence and not np.array_equal(windows[i].ids, window.ids)
            ),
            None,
        )
        if other is None:
            raise DataError("resampling needs two different sentences or more, but the corpus has one")
        chosen[number] = other
    return chosen


def resampled(clean: "CorpusStates", at: str, chosen: Sequence[int]) -> Edit:
    """Replace the states of each window by those of the chosen window.

    Args:
        chosen: index of another window for each window.
    """
    import torch

    from crosslens.encoders.batch import make_batch
    from crosslens.encoders.states.sites import sites

    windows, places = clean.windows, sites(clean.encoder, at)
    asked = clean.at(places)
    batch = make_batch(windows, padding=clean.encoder.padding, device=torch.device("cpu"))
    keys = Inputs(batch.ids, batch.mask, batch.segments).windows()
    partner: Mapping[tuple[int, ...], Window] = {key: windows[i] for key, i in zip(keys, chosen, strict=True)}

    def with_others(inputs: Inputs) -> "Replacement":
        others, states_of = asked([partner[key] for key in inputs.windows()])
        index = _aligned(inputs.mask, others.mask)

        def replacement(site: "Site", states: "Tensor") -> "Tensor":
            other = states_of[site.name]
            return other.gather(1, index[..., None].expand(*index.shape, other.shape[2]))

        return replacement

    return Edit(places, with_others)


def _aligned(mask: "Tensor", other: "Tensor") -> "Tensor":
    """Position of the other window for each position ``(windows, length)``; the last subword takes the last."""
    import torch

    length, others = mask.sum(1, keepdim=True), other.sum(1, keepdim=True)
    position = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
    inner = torch.minimum(position, (others - 2).clamp(min=0))
    return torch.where(position >= length - 1, others - 1, inner)
