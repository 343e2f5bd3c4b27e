"""Feature-based training: a BiLSTM on a scalar mix of a frozen encoder's layers (Wu & Dredze 2019, section 5.2)."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from crosslens.encoders.interventions.intervention import Intervention

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class Features(Intervention):
    """Freeze the encoder and train a BiLSTM on a mix of its layers.

    Attributes:
        use: always ``features``.
        hidden: LSTM size in each direction; None: the encoder's width.
    """

    kind = "features"
    keys: ClassVar = {"use": "use", "hidden": "hidden"}
    absent: ClassVar = {"use": "fine-tune"}
    follows = True
    own_recipe = True
    once = "readout"

    use: Literal["features"]
    hidden: Annotated[int, Field(ge=1)] | None = None

    @property
    def label(self) -> str:
        """``features``, ``features hidden=256``."""
        return "features" if self.hidden is None else f"features hidden={self.hidden}"

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return a frozen copy with a randomly initialised BiLSTM readout."""
        from crosslens.encoders.readouts.scalar_mix_bilstm import as_features

        return as_features(encoder, seed=seed, hidden=self.hidden)
