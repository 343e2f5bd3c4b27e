"""Zero ablation: replace states by zeros."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.states.state_intervention import Edit, Inputs, StateIntervention

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.data.windows import Window
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.states.sites import Replacement, Site


class Zero(StateIntervention):
    """Replace states by zeros. Layers that add nothing pass on what they read."""

    kind = "zero"
    keys: ClassVar = {"zero": "at"}

    def prepare(self, encoder: "Encoder", windows: "Sequence[Window]", *, seed: int) -> Edit:
        """Prepare the intervention; windows and seed are not used."""
        from crosslens.encoders.states.sites import sites

        return Edit(sites(encoder, self.at), _zeros)


def _zeros(inputs: Inputs) -> "Replacement":
    def replacement(site: "Site", states: "Tensor") -> "Tensor":
        return states.new_zeros(states.shape)

    return replacement
