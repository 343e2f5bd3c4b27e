"""Train another network in place of the encoder: adapted, monolingual, or a BiLSTM (Muller 2022)."""

from typing import ClassVar, Literal

from crosslens.encoders.interventions.intervention import Intervention

ADAPTED = "adapted"
LABELS = {"adapted": "adapted", "scratch": "from scratch", "bilstm": "BiLSTM"}


class Start(Intervention):
    """Train another encoder, which a separate run makes.

    Attributes:
        start: ``adapted``: the encoder after masked language modelling on raw text of the source language;
            ``scratch``: an encoder pretrained on that text only; ``bilstm``: a network without pretraining.
    """

    kind = "start"
    stage = "start"
    keys: ClassVar = {"start": "start"}
    absent: ClassVar = {"start": "encoder"}
    once = "start"

    start: Literal["adapted", "scratch", "bilstm"]

    @property
    def own_recipe(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]  # depends on the start
        """Whether training needs other settings: false for an adapted encoder only."""
        return self.start != "adapted"

    @property
    def label(self) -> str:
        """``adapted``, ``from scratch``, ``BiLSTM``."""
        return LABELS[self.start]
