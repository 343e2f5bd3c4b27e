"""Fresh Transformer layers on one fixed layer (Conneau, Wu et al. 2020, section 5.1.2)."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from crosslens.encoders.interventions.intervention import Intervention
from crosslens.errors import EncoderError

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class OnOneLayer(Intervention):
    """Freeze the encoder and train fresh layers on one of its layers.

    Attributes:
        layer: which one is read; 0 is the embeddings.
        height: how many fresh layers.
        mapped_from: name of the encoder whose layer is mapped into the one that they were trained on; None: none is.
        mapping: digest of the fixed normalisation and rotation of the states; None: they are read as they are.
        mapped_by: ``procrustes_shuffled`` or ``identity`` where the mapping is a baseline; None: it is not.
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

    layer: Annotated[int, Field(ge=0)]
    height: Annotated[int, Field(ge=1)] = 4
    mapped_from: str | None = None
    mapping: str | None = None
    mapped_by: str | None = None

    @property
    def label(self) -> str:
        """``tower on 2``."""
        words = [f"tower on {self.layer}"]
        words += [f"height={self.height}"] if self.height != 4 else []
        words += [f"mapped from {self.mapped_from}"] if self.mapped_from else []
        words += [f"mapping={self.mapping}"] if self.mapping else []
        words += [f"mapped by {self.mapped_by}"] if self.mapped_by else []
        return " ".join(words)

    @property
    def acts_on(self) -> str:
        """The layer that is read."""
        return str(self.layer)

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """A frozen copy with fresh layers on it."""
        from crosslens.encoders.readouts.transformer import as_tower

        if self.mapping is not None:
            raise EncoderError(
                "a mapping needs two encoders", hint="use crosslens.alignment.transplant.transfer_by_layer"
            )
        return as_tower(encoder, self.layer, seed=seed, height=self.height)
