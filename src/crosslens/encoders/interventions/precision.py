"""The number format of an encoder's forward passes."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.interventions.intervention import Intervention, Option
from crosslens.encoders.options import ONLY_IN_FLOAT32, Precision
from crosslens.errors import EncoderError

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
    once = "precision"

    precision: Precision = "float32"

    @property
    def label(self) -> str:
        """``precision=bfloat16``."""
        return f"precision={self.precision}"

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return an encoder that computes in this precision from now on; it shares the model. The seed is not used.

        Raises:
            EncoderError: for bfloat16 in a family that cannot be computed in it.
        """
        if encoder.precision == self.precision:
            return encoder
        if self.precision == "bfloat16" and encoder.family.name in ONLY_IN_FLOAT32:
            raise EncoderError(
                f"{encoder.name}: transformers cannot compute {encoder.family.name} in bfloat16",
                hint="compute in float32 (--precision float32), or use an encoder of DeBERTa-v2 or v3",
            )
        others = tuple(change for change in encoder.changes if not isinstance(change.intervention, InPrecision))
        encoder = replace(encoder, changes=others)
        if self.precision == "float32":
            from crosslens.encoders.models.held_weights import held_in_float32

            return replace(encoder, model=held_in_float32(encoder.model))
        return super().apply(encoder, seed=seed)
