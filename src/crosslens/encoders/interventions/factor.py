"""Pretraining factors (Conneau, Wu et al. 2020, Table 1)."""

from typing import ClassVar

from crosslens.encoders.interventions.intervention import Intervention


class Factor(Intervention):
    """Pretrain with one setting changed.

    Attributes:
        name: factor in `crosslens.mlm.factors.FACTORS` or in the study.
    """

    kind = "factor"
    stage = "pretraining"
    once = "pretraining factor"
    keys: ClassVar = {"factor": "name"}

    name: str

    @property
    def label(self) -> str:
        """The factor's name."""
        return self.name
