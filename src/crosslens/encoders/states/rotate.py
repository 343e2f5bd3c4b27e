"""Rotation: turn states by an angle in random planes, which changes directions but no lengths or distances."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from crosslens.encoders.states.state_intervention import Edit, Inputs, StateIntervention

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site


class Rotate(StateIntervention):
    """Turn states by an angle in each plane of a random orthogonal basis.

    With the same seed and number of columns the planes are the same at every address, so that the opposite angle at a
    later address undoes the rotation if nothing comes between.
    """

    kind = "rotate"
    keys: ClassVar = {"rotate": "at", "degrees": "degrees", "rotate_seed": "seed"}

    degrees: Annotated[float, Field(allow_inf_nan=False)]

    @property
    def dosed(self) -> str:
        """``rotate=30``."""
        return f"rotate={self.degrees:g}"

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Draw the planes; the states are not used."""
        from crosslens.encoders.states.sites import sites

        matrices: dict[int, Tensor] = {}

        def turned(inputs: Inputs) -> "Replacement":
            def replacement(site: "Site", states: "Tensor") -> "Tensor":
                if self.degrees == 0:
                    return states
                width = states.shape[2]
                if width not in matrices:
                    matrices[width] = rotation_matrix(width, self.degrees, seed=seed)
                return states @ matrices[width].to(states)

            return replacement

        return Edit(sites(clean.encoder, self.at), turned)


def rotation_matrix(width: int, degrees: float, *, seed: int) -> "Tensor":
    """Return an orthogonal matrix ``(width, width)`` that turns every vector by an angle.

    With an odd width, one direction stays.
    """
    import math

    import torch

    generator = torch.Generator().manual_seed(seed)
    basis, _ = torch.linalg.qr(torch.randn(width, width, generator=generator, dtype=torch.float64))
    turn = torch.eye(width, dtype=torch.float64)
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    for first in range(0, width - 1, 2):
        turn[first, first] = turn[first + 1, first + 1] = cosine
        turn[first, first + 1], turn[first + 1, first] = -sine, sine
    return (basis @ turn @ basis.T).float()
