"""Noise: add random vectors to states, in doses."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from crosslens.digests import digest
from crosslens.encoders.states.state_intervention import Edit, Inputs, StateIntervention

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site


class Noise(StateIntervention):
    """Add Gaussian noise to states.

    The noise depends on the seed, the place and the subwords of the window, not on the batch.

    Attributes:
        noise_dose: standard deviation of the noise, in root mean squares of each state.
    """

    kind = "noise"
    keys: ClassVar = {"noise": "at", "noise_dose": "noise_dose", "noise_seed": "seed"}

    noise_dose: Annotated[float, Field(ge=0, allow_inf_nan=False)]

    @property
    def dosed(self) -> str:
        """``noise=0.5``."""
        return f"noise={self.noise_dose:g}"

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Prepare the intervention; the states are not used."""
        import torch

        from crosslens.encoders.states.sites import sites

        def with_noise(inputs: Inputs) -> "Replacement":
            keys = inputs.windows()
            lengths = inputs.mask.sum(1).tolist()

            def replacement(site: "Site", states: "Tensor") -> "Tensor":
                if self.noise_dose == 0:
                    return states
                noise = torch.zeros(states.shape, dtype=torch.float32)
                for row, key in enumerate(keys):
                    generator = torch.Generator().manual_seed(int(digest([seed, site.name, list(key)])[:15], 16))
                    shape = lengths[row], states.shape[2]
                    noise[row, : lengths[row]] = torch.randn(shape, generator=generator, dtype=torch.float32)
                scale = states.float().pow(2).mean(2, keepdim=True).sqrt()
                return states + self.noise_dose * scale * noise.to(states.device)

            return replacement

        return Edit(sites(clean.encoder, self.at), with_noise)
