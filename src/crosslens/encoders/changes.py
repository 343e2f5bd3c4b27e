"""Interventions as they were applied to an encoder."""

from dataclasses import dataclass

from crosslens.encoders.interventions import Intervention


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to an encoder after loading.

    Attributes:
        intervention: what.
        seed: of what was drawn; None: nothing was.
        tensors: names of the parameters that were changed or frozen.
    """

    intervention: Intervention
    seed: int | None = None
    tensors: tuple[str, ...] = ()
