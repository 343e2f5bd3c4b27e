"""Freezing: exclude chosen layers from training (Wu & Dredze 2019, section 4.3)."""

from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.interventions.intervention import Intervention, Layers, Option

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class Freeze(Intervention):
    """Exclude layers from training.

    Attributes:
        layers: frozen layers; 0 is the embeddings.
    """

    kind = "freeze"
    keys: ClassVar = {"freeze": "layers"}
    options: ClassVar = {
        "freeze": Option("--freeze", "Layers to freeze during training; 0 is the embeddings.", "LAYERS")
    }
    verb = "frozen"
    follows = True

    layers: Layers

    @property
    def label(self) -> str:
        """``frozen 0-3``."""
        return f"frozen {self.layers}"

    @property
    def treatment(self) -> str:
        """``frozen``."""
        return self.verb

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return a copy with these layers frozen; the seed is not used."""
        from crosslens.encoders.freeze import freeze

        return freeze(encoder, self.layers)
