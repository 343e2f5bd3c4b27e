"""The number format of an encoder's forward passes."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.interventions.intervention import Intervention, Option
from crosslens.encoders.options import Precision

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class InPrecision(Intervention):
    """Compute all forward passes of an encoder in another number format than float32; no weight is changed.

    A condition with this setting is compared with the reference that has the same one.

    Attributes:
        precision: number format of the computation.
    """

    kind = "precision"
    keys: ClassVar = {"precision": "precision"}
    options: ClassVar = {
        "precision": Option(
            "--precision",
            "Number format of all forward passes: float32, bfloat16, or auto for bfloat16 where it is faster.",
        )
    }
    follows = True
    of_reference = True

    precision: Precision = "float32"

    @property
    def label(self) -> str:
        """``precision=bfloat16``."""
        return f"precision={self.precision}"

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return an encoder that computes in this precision from now on; it shares the model. The seed is not used."""
        if encoder.precision == self.precision:
            return encoder
        others = tuple(change for change in encoder.changes if not isinstance(change.intervention, InPrecision))
        encoder = replace(encoder, changes=others)
        return encoder if self.precision == "float32" else super().apply(encoder, seed=seed)
