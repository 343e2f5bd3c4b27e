"""Zero ablation: replace states by zeros."""

from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.states.state_intervention import Edit, Inputs, StateIntervention

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site


class Zero(StateIntervention):
    """Replace states by zeros.

    A layer that adds nothing passes on what it read. In encoders such as BERT, which normalise after each addition, its
    normalisations still act on that.
    """

    kind = "zero"
    keys: ClassVar = {"zero": "at"}

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Prepare the intervention; the states and the seed are not used."""
        from crosslens.encoders.states.sites import sites

        return Edit(sites(clean.encoder, self.at), _zeros)


def _zeros(inputs: Inputs) -> "Replacement":
    def replacement(site: "Site", states: "Tensor") -> "Tensor":
        return states.new_zeros(states.shape)

    return replacement
