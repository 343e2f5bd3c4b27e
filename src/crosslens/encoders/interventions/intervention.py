"""The base class of interventions."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ValidationError

from crosslens.encoders.layers import EACH, layer_ranges, scale_layers
from crosslens.errors import EncoderError
from crosslens.settings import InvalidSettings, Problem, Strict, problems_of

if TYPE_CHECKING:  # imports torch, which is slow and which results and reports do not need
    from crosslens.encoders.encoder import Encoder

Stage = Literal["pretraining", "start", "before training", "after training"]
"""When an intervention acts: in pretraining, on the choice of the initial encoder, or just before or after training."""


def _as_text(value: Any) -> Any:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    return "".join(value.split()) if isinstance(value, str) else value  # ` 1 ` and `1` are one condition


Name = Annotated[str, BeforeValidator(_as_text)]
"""Name that may be a number; integers are accepted because YAML reads a lone ``1`` as one."""


def _readable(layers: str) -> str:
    """Refuse layers that no encoder could have, where they are written."""
    try:
        if layers != EACH:
            layer_ranges(layers)
    except EncoderError as error:
        raise ValueError(str(error)) from None
    return layers


Layers = Annotated[Name, AfterValidator(_readable)]
"""Layer specification such as ``1-2``, or ``*`` in a study."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of ``crosslens finetune`` that sets one field of an intervention.

    Attributes:
        flag: flag such as ``--random-init``.
        help: help text, one sentence.
        metavar: placeholder for the value; None: the name of its type.
    """

    flag: str
    help: str
    metavar: str | None = None


class Intervention(Strict):
    """One modification of an encoder, as an immutable value.

    A subclass declares its settings as fields and maps the keys of study files to them.

    Attributes:
        kind: name in `INTERVENTIONS`.
        stage: when the intervention acts.
        keys: key in a study file -> field.
        absent: key -> value that means no intervention.
        options: key -> option of ``crosslens finetune``.
        verb: past participle for logs, such as ``frozen``.
        follows: whether the label follows ``reference`` or the re-initialised layers instead of replacing them.
        own_recipe: whether training needs other settings than the reference.
        edits_states: whether states are replaced in each forward pass (`StateIntervention`).
        reads_corpus: whether it learns from a corpus, its ``corpus`` or the training corpus.
        of_reference: whether it is a setting of the encoder that the reference has too, so that a condition with it is
            compared with a reference with it.
        once: what an encoder has only one of, such as ``readout``, so that a second intervention with it is refused;
            None: several interventions of the kind may act.
    """

    kind: ClassVar[str]
    stage: ClassVar[Stage] = "before training"
    keys: ClassVar[Mapping[str, str]]
    absent: ClassVar[Mapping[str, Any]] = {}
    options: ClassVar[Mapping[str, Option]] = {}
    verb: ClassVar[str] = "changed"
    follows: ClassVar[bool] = False
    own_recipe: ClassVar[bool] = False
    edits_states: ClassVar[bool] = False
    reads_corpus: ClassVar[bool] = False
    of_reference: ClassVar[bool] = False
    once: ClassVar[str | None] = None

    @property
    def label(self) -> str:
        """Display name, such as a column header."""
        raise NotImplementedError

    @property
    def acts_on(self) -> str | None:
        """The affected layers, as `crosslens.encoders.layers.format_layers` writes them; None if not applicable."""
        return getattr(self, "layers", None)

    @property
    def treatment(self) -> str:
        """What is done, without where: such as ``zero``."""
        return self.kind

    @property
    def address(self) -> str | None:
        """Where it is done; None if not applicable."""
        return self.acts_on

    @property
    def plain(self) -> dict[str, Any]:
        """The settings by their keys in study files, without defaults."""
        values = self.model_dump(mode="json")
        fields = type(self).model_fields
        return {
            key: values[field]
            for key, field in self.keys.items()
            if fields[field].is_required() or values[field] != fields[field].default
        }

    @classmethod
    def from_plain(cls, settings: Mapping[str, Any]) -> Self | None:
        """Create the intervention from keys of a study file; None if they describe no intervention.

        Raises:
            InvalidSettings: for an invalid value, or a setting without a required one; names keys, not fields.
        """
        values = {
            cls.keys[key]: value
            for key, value in settings.items()
            if value is not None and value != cls.absent.get(key, None)
        }
        fields = cls.model_fields
        changes_something = any(value != fields[field].default for field, value in values.items())
        lacking = [key for key, field in cls.keys.items() if fields[field].is_required() and key not in settings]
        if not (changes_something or (values and lacking)):
            return None
        if lacking:
            with_these = " and ".join(key for key, field in cls.keys.items() if field in values)
            flags = {key: f" (option {cls.options[key].flag})" for key in lacking if key in cls.options}
            raise InvalidSettings(
                [Problem((key,), f"required with {with_these}{flags.get(key, '')}") for key in lacking]
            )
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            problems = problems_of(error, cls)
        keys: dict[str | int, str] = {field: key for key, field in cls.keys.items()}
        raise InvalidSettings(
            [Problem(tuple(keys.get(part, part) for part in problem.location), problem.reason) for problem in problems]
        )

    def each(self, *, depth: int, heads: int) -> tuple[Self, ...]:
        """One intervention for each layer if the layers are ``*``; empty otherwise."""
        if getattr(self, "layers", None) != EACH:
            return ()
        return tuple(self.model_copy(update={"layers": str(layer)}) for layer in range(1, depth + 1))

    def scaled(self, *, written_for: int | None, depth: int) -> Self:
        """Scale the layers in proportion to the depth of an encoder.

        Args:
            written_for: depth for which the layers were written; None: do not scale.
        """
        layers: str | None = getattr(self, "layers", None)
        return self if layers is None else self.model_copy(update={"layers": scale_layers(layers, written_for, depth)})

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Apply the intervention to a copy of an encoder.

        This default only records the intervention, for those that act while the encoder is made.

        Raises:
            EncoderError: for layers or components that the encoder does not have.
        """
        from dataclasses import replace

        from crosslens.encoders.interventions.change import Change

        return replace(encoder, changes=(*encoder.changes, Change(self)))
