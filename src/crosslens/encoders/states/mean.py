"""Mean ablation: replace states by their means over the evaluated corpus."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.states.state_intervention import Edit, Inputs, StateIntervention

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.data.windows import Window
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site


class Mean(StateIntervention):
    """Replace states by their mean over the corpus, computed without interventions.

    The first and the last subword of a window, mostly special tokens, have means of their own: their states can be
    many times as large as those of words. A corpus has one language, so each language has its own means: what
    distinguishes words is removed, what distinguishes languages stays.
    """

    kind = "mean"
    keys: ClassVar = {"mean": "at"}

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Compute the means; the seed is not used.

        Raises:
            RequestError: for a corpus that is joined from several languages.
        """
        import torch

        from crosslens.encoders.states.sites import sites

        clean.require_one_language(self)
        places = sites(clean.encoder, self.at)
        asked = clean.means(places)

        def with_means(inputs: Inputs) -> "Replacement":
            means, chosen = asked(), places_of(inputs.mask)

            def replacement(site: "Site", states: "Tensor") -> "Tensor":
                first, inner, last = means[site.name].to(states)
                return torch.where(chosen[0, ..., None], first, torch.where(chosen[2, ..., None], last, inner))

            return replacement

        return Edit(places, with_means)


PLACES = ("first", "inner", "last")
"""Places in a window with means of their own."""


def place_means(encoder: "Encoder", places: "Sequence[Site]", windows: "Sequence[Window]") -> "dict[str, Tensor]":
    """Compute mean states over windows: name of the place -> ``(3, columns)``, of first, inner and last subwords.

    They are float64 tensors on the CPU, because not every device has float64.
    """
    import torch

    from crosslens.encoders.matmul import inference
    from crosslens.encoders.states.sites import read_sites

    sums: list[Tensor | float] = [0.0] * len(places)
    counts = torch.zeros(len(PLACES), dtype=torch.float64)
    with inference():
        for _, batch, states in read_sites(encoder, places, windows):
            weights = places_of(batch.mask).cpu().double()
            counts += weights.sum((1, 2))
            for number, of_site in enumerate(states):
                sums[number] = sums[number] + torch.einsum("pwl,wlc->pc", weights, of_site.cpu().double())
    return {
        site.name: total / counts.clamp(min=1)[:, None]  # pyright: ignore[reportOperatorIssue]
        for site, total in zip(places, sums, strict=True)
    }


def places_of(mask: "Tensor") -> "Tensor":
    """Whether each subword is in each place, ``(places, windows, length)``; a lone subword is first."""
    import torch

    position = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
    last = mask.sum(1, keepdim=True) - 1
    return torch.stack([position == 0, (position > 0) & (position < last), (position == last) & (position > 0)])
