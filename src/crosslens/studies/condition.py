"""What is done to a study's encoder before training: one of its conditions."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from crosslens.encoders.changes import Change, Components, Init, describe_changes
from crosslens.encoders.layers import format_layers, parse_layers


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Layers = Annotated[str, BeforeValidator(_as_text)]
"""``1-2``; YAML reads a lone ``1`` as a number, and it is meant as well."""


START_LABELS = {"encoder": "", "adapted": "adapted", "scratch": "from scratch", "bilstm": "BiLSTM"}


class Condition(BaseModel):
    """What is done to the encoder before training.

    In a file ``none`` is the reference, and ``1-2`` is short for ``{layers: 1-2}``.

    Attributes:
        layers: drawn anew; None: none.
        components: which parts of them.
        init: how they are drawn.
        freeze: layers that training leaves alone; None: none.
        use: ``fine-tune`` it; or its ``features``, which a fresh network reads (`crosslens.encoders.features`).
        recipe: a named recipe for this condition; None: the study's.
        factor: what is another way in pretraining, a name from `FACTORS` or the study's own; None: nothing.
        start: what training begins with: the study's ``encoder``; the encoder ``adapted`` to the source's raw text by
            masked language modelling; an encoder pretrained from ``scratch`` on that text alone; a ``bilstm`` without
            any pretraining.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    layers: Layers | None = None
    components: Components = "all"
    init: Init = "architecture"
    freeze: Layers | None = None
    use: Literal["fine-tune", "features"] = "fine-tune"
    recipe: str | None = None
    factor: str | None = None
    start: Literal["encoder", "adapted", "scratch", "bilstm"] = "encoder"

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if isinstance(value, (str, int)):
            return {} if value == "none" else {"layers": value}
        return value

    @property
    def label(self) -> str:
        """``reference``, ``1-2``, ``1-2 attention``, ``reference frozen 0-3``, ``reference features``."""
        drawn = [Change("pretrain", "", init=self.factor)] if self.factor else []
        drawn += [Change("pretrain", "", init=START_LABELS[self.start])] if self.start != "encoder" else []
        drawn += [Change("random_init", self.layers, self.components, self.init)] if self.layers else []
        frozen = [Change("freeze", self.freeze)] if self.freeze else []
        features = [Change("features", "all")] if self.use == "features" else []
        return describe_changes([*drawn, *frozen, *features])

    @property
    def at_pretraining(self) -> "Condition":
        """What of it is done in pretraining."""
        return Condition(factor=self.factor)

    @property
    def at_start(self) -> "Condition":
        """What of it is done before training begins."""
        return Condition(factor=self.factor, start=self.start)

    @property
    def frozen(self) -> bool:
        """Whether something of the encoder is not trained."""
        return self.freeze is not None or self.use == "features"

    def scaled(self, *, written_for: int | None, depth: int) -> "Condition":
        """The same thirds, quarters or twelfths of an encoder of another depth.

        Args:
            written_for: the depth that the layers are meant for; None: that of any encoder.
            depth: the encoder's.
        """
        changed = {
            name: scale(layers, written_for or depth, depth)
            for name in ("layers", "freeze")
            if (layers := getattr(self, name)) is not None
        }
        return self.model_copy(update=changed)


def scale(layers: str, written_for: int, depth: int) -> str:
    """Every layer that a named one overlaps when both stacks are drawn equally tall."""
    kept: set[int] = set()
    for layer in parse_layers(layers, written_for):
        first, last = (layer - 1) * depth // written_for, -(-layer * depth // written_for)
        kept |= set(range(first + 1, last + 1)) if layer else {0}
    return format_layers(kept)
