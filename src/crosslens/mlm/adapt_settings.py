"""Settings for adapting an encoder to an unseen language; see `crosslens.mlm.adapt`."""

from typing import Annotated, Any

from pydantic import Field

from crosslens.encoders.interventions.intervention import Layers
from crosslens.encoders.options import Precision
from crosslens.mlm.pretrain_settings import Masking
from crosslens.settings import Count, Positive, Seed, Share, Strict


class Adaptation(Strict):
    """Settings of an adaptation with AdamW.

    Attributes:
        epochs: passes over the text.
        length: subwords per block, special tokens included.
        batch: blocks per step.
        precision: number format of training; perplexities are measured in float32.
        learning_rate: peak learning rate.
        warmup: fraction of the steps in which the learning rate rises; it then decays linearly to 0.
        weight_decay: decoupled weight decay of matrices.
        clip: maximum norm of a step's gradient; None: no clipping.
        masking: how subwords are masked.
        held_out: fraction of the lines, taken from the end, whose perplexity selects the best epoch.
        freeze: layers to freeze, such as ``0-12``; None: none. With all layers frozen, only the language-modelling head
            is trained.
        seed: random seed for block order, masking, dropout, and a head that the checkpoint lacks.
    """

    epochs: Count = 20
    length: Annotated[int, Field(ge=8)] = 128
    batch: Count = 8
    precision: Precision = "float32"
    learning_rate: Positive = 5e-5
    warmup: Share = 0.1
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    clip: Positive | None = 1.0
    masking: Masking = Masking()
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.05
    freeze: Layers | None = None
    seed: Seed = 1

    @property
    def identity(self) -> dict[str, Any]:
        """The settings as plain values; the default precision is left out, so that older ids stay the same."""
        return self.model_dump(mode="json", exclude={"precision"} if self.precision == "float32" else None)
