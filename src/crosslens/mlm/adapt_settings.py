"""Settings of an adaptation to a language that an encoder never saw: see `crosslens.mlm.adapt`."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from crosslens.mlm.pretrain_settings import Count, Masking, Positive, Share


class Adaptation(BaseModel):
    """Settings of an adaptation with AdamW.

    Attributes:
        epochs: passes over the text.
        length: subwords a block, special tokens included.
        batch: blocks a step.
        learning_rate: the peak.
        warmup: share of the steps in which it rises; then it falls to 0.
        weight_decay: on matrices.
        clip: largest norm of a step's gradient; None: not clipped.
        masking: what is hidden.
        held_out: share of the lines, the last ones, whose perplexity selects the pass that is kept.
        freeze: layers that are left alone, ``0-12``: where all are, a fresh head is fitted to the encoder.
        seed: of the order, of what is hidden, of dropout, and of a head that the checkpoint lacks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: Count = 20
    length: Annotated[int, Field(ge=8)] = 128
    batch: Count = 8
    learning_rate: Positive = 5e-5
    warmup: Share = 0.1
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.01
    clip: Positive | None = 1.0
    masking: Masking = Masking()
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.05
    freeze: str | None = None
    seed: int = 1
