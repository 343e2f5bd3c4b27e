"""Experimental conditions: the interventions on an encoder before and after training, as one value.

Conditions are parsed only here. Code asks a condition for its properties; labels are for display only.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Self, TypeVar

from pydantic import SerializeAsAny, ValidationError, model_serializer, model_validator

from crosslens.encoders.interventions import INTERVENTIONS, Intervention
from crosslens.encoders.interventions.checkpoints import Checkpoint
from crosslens.encoders.interventions.factor import Factor
from crosslens.encoders.interventions.intervention import Stage
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.encoders.interventions.start import ADAPTED, Start
from crosslens.encoders.interventions.swap import FromOther
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.options import Precision
from crosslens.errors import RequestError
from crosslens.settings import InvalidSettings, Problem, Strict, problems_of, unknown_setting

Kind = TypeVar("Kind", bound=Intervention)

MOST_LAYERS = 100_000
"""More layers than any encoder has."""

REFERENCE = "none"
"""Name of the condition without interventions in study files and records."""


class Condition(Strict):
    """Interventions on an encoder before or after training; the empty condition is the reference.

    In a file, ``none`` is the reference, ``1-2`` is short for ``{layers: 1-2}``, and one mapping holds the keys of all
    interventions: ``{layers: 1-2, components: attention, freeze: 0, recipe: small}``.

    Attributes:
        interventions: interventions in the order of `INTERVENTIONS`.
        recipe: named recipe of this condition; None: the study's recipe.
    """

    interventions: tuple[SerializeAsAny[Intervention], ...] = ()
    recipe: str | None = None

    def __init__(self, **keys: Any) -> None:
        """Create a condition from the keys of a file: ``Condition(layers="1-2", components="attention")``."""
        super().__init__(**keys)

    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]  # as that of `Strict`

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            value = {} if value == REFERENCE else {"layers": value}
        problems: list[Problem] = []
        if isinstance(value, list):  # several interventions of one kind
            members: list[Condition] = []
            for member in value:
                try:
                    members.append(cls.model_validate(member))
                except ValidationError as error:
                    problems += problems_of(error, cls)
            if problems:
                raise InvalidSettings(problems)
            recipes = sorted({member.recipe for member in members if member.recipe})
            if len(recipes) > 1:
                raise InvalidSettings([Problem(("recipe",), f"one condition has several: {', '.join(recipes)}")])
            interventions = [part for member in members for part in member.interventions]
            return {"interventions": interventions, "recipe": next(iter(recipes), None)}
        if not isinstance(value, Mapping) or "interventions" in value:
            return value
        by_key = {key: kind for kind in INTERVENTIONS.values() for key in kind.keys}
        settings: dict[str, dict[str, Any]] = {}
        for key, setting in value.items():
            if key in by_key:
                settings.setdefault(by_key[key].kind, {})[key] = setting
            elif key != "recipe":
                problems.append(_unknown(str(key), known=[*by_key, "recipe"]))
        interventions: list[Intervention | None] = []
        for name, kind in INTERVENTIONS.items():
            if name in settings:
                try:
                    interventions.append(kind.from_plain(settings[name]))
                except InvalidSettings as error:
                    problems += error.problems
        if problems:
            raise InvalidSettings(problems)
        return {"interventions": list(filter(None, interventions)), "recipe": value.get("recipe")}

    @model_validator(mode="after")
    def _refuse_second(self) -> Self:
        present: dict[str, Intervention] = {}
        for part in self.interventions:
            if part.once in present:
                reason = f"an encoder has only one {part.once}, not {present[part.once].label} and {part.label}"
                raise InvalidSettings([Problem((next(iter(part.plain or part.keys)),), reason)])
            if part.once:
                present[part.once] = part
        return self

    @model_serializer
    def _as_plain(self) -> Any:
        return self.plain

    @classmethod
    def of(cls, interventions: "tuple[Intervention, ...]", recipe: str | None = None) -> "Condition":
        """Combine interventions into a condition, in the order of `INTERVENTIONS`."""
        order = list(INTERVENTIONS)
        return cls(
            interventions=sorted(interventions, key=lambda intervention: order.index(intervention.kind)), recipe=recipe
        )

    @classmethod
    def read(cls, value: Any) -> "Condition":
        """Read a condition from user input: text, a layer number, or the keys of a study file.

        Raises:
            RequestError: for unknown or missing keys and invalid values; the message names all of them.
        """
        try:
            return value if isinstance(value, cls) else cls.model_validate(value)
        except ValidationError as error:
            problems = map(str, problems_of(error, cls))
            raise RequestError(f"this condition is invalid: {'; '.join(problems)}") from None

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Parse a condition written by `text`."""
        return cls.model_validate(text if text[:1] not in "[{" else json.loads(text))

    @property
    def plain(self) -> Any:
        """The condition as plain values, in canonical form: ``none``, a mapping, or a list of mappings."""
        parts = [intervention.plain for intervention in self.interventions]
        if self.recipe:
            parts.append({"recipe": self.recipe})
        kinds = [intervention.kind for intervention in self.interventions]
        if len(set(kinds)) < len(kinds):
            return parts
        return {key: value for part in parts for key, value in part.items()} or REFERENCE

    @property
    def text(self) -> str:
        """The condition as one line, in canonical form: ``none``, ``{"layers": "1-2"}``; `parse` reads it."""
        plain = self.plain
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)

    @property
    def label(self) -> str:
        """Display name: ``reference``, ``1-2``, ``1-2 attention``, ``reference frozen 0-3``, ``1-2 recipe=small``."""
        replaces = any(not part.follows for part in self.interventions)
        return self.change if replaces else " ".join(filter(None, ("reference", self.change)))

    @property
    def change(self) -> str:
        """Display name of the difference to the reference: ``1-2``, ``frozen 0-3``; empty for the reference."""
        words = [";".join(part.label for part in self.interventions if not part.follows)]
        words += [part.label for part in self.interventions if part.follows]
        return " ".join(filter(None, [*words, f"recipe={self.recipe}" if self.recipe else ""]))

    def find(self, kind: type[Kind]) -> Kind | None:
        """Return the only intervention of a kind; None if there is no such intervention or more than one."""
        matching = [part for part in self.interventions if isinstance(part, kind)]
        return matching[0] if len(matching) == 1 else None

    @property
    def is_reference(self) -> bool:
        """Whether the condition has neither interventions nor a recipe of its own."""
        return not self.interventions and self.recipe is None

    @property
    def reference(self) -> "Condition":
        """The condition that this one is compared with: only settings of the encoder that the reference has too."""
        return Condition.of(tuple(part for part in self.interventions if part.of_reference))

    @property
    def difference(self) -> "Condition":
        """What differs from `reference`: the other interventions, and the recipe."""
        return Condition.of(tuple(part for part in self.interventions if not part.of_reference), self.recipe)

    @property
    def own_recipe(self) -> bool:
        """Whether training uses other settings than the reference."""
        return self.recipe is not None or any(part.own_recipe for part in self.interventions)

    @property
    def reinit(self) -> Reinit | None:
        """The re-initialisation if it is the only intervention; None otherwise."""
        only = self.interventions[0] if len(self.interventions) == 1 else None
        return only if isinstance(only, Reinit) else None

    @property
    def whole_layers(self) -> bool:
        """Whether it only re-initialises whole layers, with the architecture's own initialiser."""
        return self.reinit is not None and self.recipe is None and self.reinit.whole_layers

    @property
    def start(self) -> str:
        """The network that training begins with: ``encoder``, ``adapted``, ``scratch`` or ``bilstm``."""
        start = self.find(Start)
        return start.start if start else "encoder"

    @property
    def other(self) -> "Condition | None":
        """The condition of the encoder that a study makes to take layers or changes from; None if there is none."""
        if not any(isinstance(part, FromOther) and part.other == ADAPTED for part in self.interventions):
            return None
        return Condition.of((*self.up_to("pretraining").interventions, Start(start=ADAPTED)))

    @property
    def factor(self) -> str | None:
        """Name of the pretraining factor; None: default pretraining."""
        factor = self.find(Factor)
        return factor.name if factor else None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The step of pretraining whose weights training begins with; None: the last one."""
        return self.find(Checkpoint)

    @property
    def precision(self) -> Precision:
        """Number format of all forward passes."""
        return (self.find(InPrecision) or InPrecision()).precision

    def at(self, checkpoint: Checkpoint | None) -> "Condition":
        """The same condition of the weights after other steps of pretraining; None: the last ones."""
        others = tuple(part for part in self.interventions if not isinstance(part, Checkpoint))
        return Condition.of(others if checkpoint is None else (*others, checkpoint), self.recipe)

    @property
    def trains_all(self) -> bool:
        """Whether every parameter of the encoder is trained."""
        return not any(part.follows and not part.of_reference for part in self.interventions)

    def reinitialised(self, depth: int) -> tuple[int, ...]:
        """Return the layers re-initialised with all components; empty if there are other interventions."""
        only = self.reinit
        return parse_layers(only.layers, depth) if only and only.components == "all" else ()

    def is_untrained(self, depth: int) -> bool:
        """Whether all layers and the embeddings are re-initialised with all components."""
        layers = {
            layer
            for part in self.interventions
            if isinstance(part, Reinit) and part.components == "all"
            for layer in parse_layers(part.layers, depth)
        }
        return len(layers) == depth + 1

    @property
    def before(self) -> "Condition":
        """The interventions before training, and the recipe: what determines the weights."""
        kept = tuple(part for part in self.interventions if part.stage != "after training")
        return Condition.of(kept, self.recipe)

    @property
    def acts_after_training(self) -> bool:
        """Whether an intervention acts on the trained model."""
        return any(part.stage == "after training" for part in self.interventions)

    @property
    def treatment(self) -> tuple[str, str] | None:
        """What is done and where, such as ``("zero", "1-2")``; None unless one intervention acts on an address."""
        only = self.interventions[0] if len(self.interventions) == 1 and self.recipe is None else None
        return (only.treatment, only.address) if only is not None and only.address is not None else None

    def require_before_training(self) -> "Condition":
        """Return this condition if all interventions act before training ends.

        Raises:
            RequestError: for one that acts on trained models.
        """
        for part in self.up_to("after training").interventions:
            raise RequestError(
                f"{part.label} acts on a trained model, not before training",
                hint="use crosslens.intervene or `crosslens evaluate --intervene`",
            )
        return self

    def up_to(self, *stages: Stage) -> "Condition":
        """Keep only interventions that act in these stages, without the recipe."""
        return Condition.of(tuple(part for part in self.interventions if part.stage in stages))

    def each(self, *, written_for: int | None, depth: int, heads: int) -> "tuple[Condition, ...]":
        """List the conditions for an encoder: one for each layer or head that ``*`` stands for; scale other layers.

        >>> [condition.text for condition in Condition(layers="*").each(written_for=None, depth=2, heads=4)]
        ['{"layers": "1"}', '{"layers": "2"}']

        Args:
            written_for: depth for which layers are written; None: do not scale.
        """
        choices = [
            part.each(depth=depth, heads=heads) or (part.scaled(written_for=written_for, depth=depth),)
            for part in self.interventions
        ]
        return tuple(Condition.of(parts, self.recipe) for parts in product(*choices))

    def scaled(self, *, written_for: int | None, depth: int) -> "Condition":
        """Scale the layers to an encoder of another depth; see `Intervention.scaled`."""
        parts = tuple(part.scaled(written_for=written_for, depth=depth) for part in self.interventions)
        return Condition.of(parts, self.recipe)

    @property
    def columns(self) -> dict[str, str | None]:
        """Columns of `crosslens.results.record.Record` that describe the condition."""
        reinit = [part for part in self.interventions if isinstance(part, Reinit)]
        return {
            "condition": self.text,
            "layers": ";".join(part.acts_on for part in self.interventions if part.acts_on) or None,
            "ablation": ";".join(part.layers for part in reinit) or None,
            "components": ";".join(part.components for part in reinit) or None,
            "factor": self.factor,
            "start": None if self.start == "encoder" else self.start,
        }


def differing_settings(conditions: Sequence[Condition]) -> list[str]:
    """The settings of each condition that not all of them have; digests only where nothing else tells them apart.

    >>> differing_settings([Condition(erase="1", erase_to="ud/fr"), Condition(erase="1", erase_to="ud/de")])
    ['erase_to=ud/fr', 'erase_to=ud/de']
    """
    each = [
        {(key, str(value)) for part in condition.interventions for key, value in part.plain.items()}
        for condition in conditions
    ]
    differing = [sorted(settings - set.intersection(*each)) for settings in each]
    digests = [[setting for setting in settings if setting[0].endswith("digest")] for settings in differing]
    named = [[setting for setting in settings if not setting[0].endswith("digest")] for settings in differing]
    texts = [" ".join(f"{key}={value}" for key, value in settings) for settings in named]
    if len(set(texts)) == len(texts):
        return texts
    return [
        " ".join(filter(None, (text, *(f"{key}={value[:8]}" for key, value in of_digests))))
        for text, of_digests in zip(texts, digests, strict=True)
    ]


def is_condition(text: str) -> bool:
    """Whether a text is a condition as `Condition.text` writes it, with layers that some encoder could have.

    >>> is_condition("1-2"), is_condition('{"freeze": "0-3"}'), is_condition("2-1"), is_condition("{")
    (True, True, False, False)
    """
    try:
        for part in Condition.parse(text).interventions:
            if part.acts_on is not None:
                parse_layers(part.acts_on, MOST_LAYERS)
    except (ValueError, RequestError, RecursionError):
        return False
    return True


def _unknown(key: str, *, known: Sequence[str]) -> Problem:
    """The problem of an unknown key, which may be the name of the command line's option, such as ``random_init``."""
    flag = f"--{key.replace('_', '-')}"
    for kind in INTERVENTIONS.values():
        for meant, option in kind.options.items():
            if option.flag == flag:
                return Problem((key,), f"unknown setting; did you mean {meant!r}?")
    return unknown_setting(key, known=known)
