"""What is different in pretraining (Conneau, Wu et al. 2020, Table 1)."""

from typing import ClassVar

from crosslens.encoders.interventions.intervention import Intervention


class Factor(Intervention):
    """Pretrain with one setting changed.

    Attributes:
        name: a row of `crosslens.mlm.factors.FACTORS`, or one of the study's own factors.
    """

    kind = "factor"
    stage = "pretraining"
    keys: ClassVar = {"factor": "name"}

    name: str

    @property
    def label(self) -> str:
        """The factor's name."""
        return self.name
