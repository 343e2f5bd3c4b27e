"""Train new Transformer layers on one frozen encoder layer (Conneau, Wu et al. 2020, section 5.1.2)."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from crosslens.encoders.interventions.intervention import Intervention
from crosslens.errors import EncoderError

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class OnOneLayer(Intervention):
    """Freeze the encoder and train new Transformer layers on one of its layers.

    Attributes:
        layer: input layer; 0 is the embeddings.
        height: number of new layers.
        mapped_from: name of the encoder whose states are mapped into the layer of the encoder used in training; None
            without a mapping.
        mapping: digest of the fixed normalisation and rotation of the states; None if the states are not mapped.
        mapped_by: baseline mapping, ``procrustes_shuffled`` or ``identity``; None for other mappings.
    """

    kind = "tower"
    keys: ClassVar = {
        "tower": "layer",
        "height": "height",
        "mapped_from": "mapped_from",
        "mapping": "mapping",
        "mapped_by": "mapped_by",
    }
    follows = True
    own_recipe = True
    once = "readout"

    layer: Annotated[int, Field(ge=0)]
    height: Annotated[int, Field(ge=1)] = 4
    mapped_from: str | None = None
    mapping: str | None = None
    mapped_by: str | None = None

    @property
    def label(self) -> str:
        """``tower on 2``, ``tower on 2 height=1``."""
        words = [f"tower on {self.layer}"]
        words += [f"height={self.height}"] if self.height != 4 else []
        words += [f"mapped from {self.mapped_from}"] if self.mapped_from else []
        words += [f"mapping={self.mapping}"] if self.mapping else []
        words += [f"mapped by {self.mapped_by}"] if self.mapped_by else []
        return " ".join(words)

    @property
    def acts_on(self) -> str:
        """The input layer."""
        return str(self.layer)

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return a frozen copy with randomly initialised Transformer layers as readout."""
        from crosslens.encoders.readouts.transformer import as_tower

        if self.mapping is not None:
            raise EncoderError(
                "a mapping needs two encoders", hint="use crosslens.alignment.transplant.transfer_by_layer"
            )
        return as_tower(encoder, self.layer, seed=seed, height=self.height)
