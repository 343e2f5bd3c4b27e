"""What training begins with instead of the encoder: an adapted one, a monolingual one, or a BiLSTM (Muller 2022)."""

from typing import ClassVar, Literal

from crosslens.encoders.interventions.intervention import Intervention

LABELS = {"adapted": "adapted", "scratch": "from scratch", "bilstm": "BiLSTM"}


class Start(Intervention):
    """Begin with another encoder, which a run of its own makes.

    Attributes:
        start: ``adapted``: the encoder after masked language modelling on the source's raw text; ``scratch``: an
            encoder pretrained on that text alone; ``bilstm``: a network without pretraining.
    """

    kind = "start"
    stage = "start"
    keys: ClassVar = {"start": "start"}
    absent: ClassVar = {"start": "encoder"}

    start: Literal["adapted", "scratch", "bilstm"]

    @property
    def own_recipe(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]  # depends on the start
        """An adapted encoder is trained as the encoder is; the others need settings of their own."""
        return self.start != "adapted"

    @property
    def label(self) -> str:
        """``adapted``, ``from scratch``, ``BiLSTM``."""
        return LABELS[self.start]
