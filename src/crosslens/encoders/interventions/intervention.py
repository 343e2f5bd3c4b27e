"""What an intervention is: the contract that every file of this folder fulfils."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from crosslens.encoders.layers import scale_layers

if TYPE_CHECKING:  # it brings torch, which results and reports need not wait for
    from crosslens.encoders.encoder import Encoder

Stage = Literal["pretraining", "start", "before training"]
"""When an intervention acts: while the encoder is pretrained, on what training begins with, or just before training."""


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Layers = Annotated[str, BeforeValidator(_as_text)]
"""``1-2``. YAML reads a lone ``1`` as a number, which is accepted as well."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of ``crosslens finetune`` that sets one part of an intervention.

    Attributes:
        flag: ``--random-init``.
        metavar: what its value is called; None: its own type's name.
        help: one sentence.
    """

    flag: str
    help: str
    metavar: str | None = None


class Intervention(BaseModel):
    """One thing that is done to an encoder: an immutable value, the same wherever it is read from.

    A subclass declares its settings as fields, and how a study file spells them.

    Attributes:
        kind: its name in `INTERVENTIONS`.
        stage: when it acts.
        keys: key in a study file -> field.
        absent: key -> the value that means that nothing is done.
        options: key -> its option of ``crosslens finetune``.
        verb: what was done to the layers that it acts on, as logs say it.
        follows: whether the label stands behind ``reference`` or the re-initialised layers, and not in their place.
        own_recipe: whether a model with it cannot be trained with the reference's settings.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    stage: ClassVar[Stage] = "before training"
    keys: ClassVar[Mapping[str, str]]
    absent: ClassVar[Mapping[str, Any]] = {}
    options: ClassVar[Mapping[str, Option]] = {}
    verb: ClassVar[str] = "changed"
    follows: ClassVar[bool] = False
    own_recipe: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """What a person reads in the head of a column."""
        raise NotImplementedError

    @property
    def acts_on(self) -> str | None:
        """The layers that it acts on, as `crosslens.encoders.layers.format_layers` writes them; None: no such set."""
        return None

    @property
    def plain(self) -> dict[str, Any]:
        """The settings as a study file has them; those that have their default are left out."""
        values = self.model_dump(mode="json")
        fields = type(self).model_fields
        return {
            key: values[field]
            for key, field in self.keys.items()
            if fields[field].is_required() or values[field] != fields[field].default
        }

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Self | None:
        """The intervention that keys of a study file describe; None where they say that nothing is done.

        Raises:
            ValueError: for a value that does not fit, or a setting without the one that it belongs to.
        """
        kept = {
            cls.keys[key]: value
            for key, value in given.items()
            if value is not None and value != cls.absent.get(key, None)
        }
        fields = cls.model_fields
        needed = [field for field in kept if kept[field] != fields[field].default]
        return cls.model_validate(kept) if needed else None

    def scaled(self, *, written_for: int | None, depth: int) -> Self:
        """The same thirds, quarters or twelfths of an encoder of another depth.

        Args:
            written_for: the depth that the layers are meant for; None: that of any encoder.
            depth: the encoder's.
        """
        layers: str | None = getattr(self, "layers", None)
        return self if layers is None else self.model_copy(update={"layers": scale_layers(layers, written_for, depth)})

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """A copy of an encoder that this was done to; what was done in its making is only noted.

        Args:
            encoder: left as it is.
            seed: of whatever is drawn.

        Raises:
            EncoderError: for layers or components that the encoder does not have.
        """
        from dataclasses import replace

        from crosslens.encoders.interventions.change import Change

        return replace(encoder, changes=(*encoder.changes, Change(self)))
