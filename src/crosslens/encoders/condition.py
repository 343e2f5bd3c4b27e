"""A condition: what is done to an encoder before its training, as one value.

This is the one place where conditions are parsed. What a condition does is asked of the value; its label is for eyes.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, SerializeAsAny, ValidationError, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from crosslens.encoders.interventions import INTERVENTIONS, Intervention
from crosslens.encoders.interventions.factor import Factor
from crosslens.encoders.interventions.intervention import Stage
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.encoders.interventions.start import Start
from crosslens.encoders.layers import parse_layers
from crosslens.errors import RequestError, suggest

Kind = TypeVar("Kind", bound=Intervention)

REFERENCE = "none"
"""The condition under which nothing is done, as study files and records write it."""


class Condition(BaseModel):
    """What is done to the encoder before training; the empty condition is the reference.

    In a file ``none`` is the reference, ``1-2`` is short for ``{layers: 1-2}``, and the keys of all interventions stand
    side by side: ``{layers: 1-2, components: attention, freeze: 0, recipe: small}``.

    Attributes:
        interventions: in the order of `INTERVENTIONS`.
        recipe: a named recipe for this condition; None: the study's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    interventions: tuple[SerializeAsAny[Intervention], ...] = ()
    recipe: str | None = None

    def __init__(self, **keys: Any) -> None:
        """As in a file: ``Condition(layers="1-2", components="attention")``."""
        super().__init__(**keys)

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            value = {} if value == REFERENCE else {"layers": value}
        if isinstance(value, list):  # the same kind of intervention several times
            return {"interventions": [part for keys in value for part in cls(**keys).interventions]}
        if not isinstance(value, Mapping) or "interventions" in value:
            return value
        by_key = {key: kind for kind in INTERVENTIONS.values() for key in kind.keys}
        given: dict[str, dict[str, Any]] = {}
        for key, setting in value.items():
            if key != "recipe":
                if key not in by_key:
                    hint = suggest(str(key), [*by_key, "recipe"])
                    raise PydanticCustomError("unknown", "unknown setting {key}; {hint}", {"key": key, "hint": hint})
                given.setdefault(by_key[key].kind, {})[key] = setting
        interventions = [kind.from_plain(given[name]) for name, kind in INTERVENTIONS.items() if name in given]
        return {"interventions": [each for each in interventions if each], "recipe": value.get("recipe")}

    @model_serializer
    def _as_plain(self) -> Any:
        return self.plain

    @classmethod
    def of(cls, interventions: "tuple[Intervention, ...]", recipe: str | None = None) -> "Condition":
        """A condition of interventions, sorted as `INTERVENTIONS` is."""
        order = list(INTERVENTIONS)
        return cls(interventions=sorted(interventions, key=lambda each: order.index(each.kind)), recipe=recipe)

    @classmethod
    def read(cls, value: Any) -> "Condition":
        """A condition as somebody writes it: text, a number of a layer, or keys of a study file.

        Raises:
            RequestError: naming every key that is unknown, missing or has a value that does not fit.
        """
        try:
            return value if isinstance(value, cls) else cls.model_validate(value)
        except ValidationError as error:
            wrong = (
                f"{'.'.join(map(str, e['loc']))}: {e['msg'][0].lower()}{e['msg'][1:]}".removeprefix(": ")
                for e in error.errors()
            )
            raise RequestError(f"this condition is invalid: {'; '.join(wrong)}") from None

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """The condition that `text` wrote."""
        return cls.model_validate(text if text[:1] not in "[{" else json.loads(text))

    @property
    def plain(self) -> Any:
        """The one way to write it as plain values: ``none``, a mapping, or a list of mappings."""
        parts = [each.plain for each in self.interventions]
        own = {"recipe": self.recipe} if self.recipe else {}
        if len({each.kind for each in self.interventions}) < len(parts):
            return [*parts, own] if own else parts
        return {key: value for part in (*parts, own) for key, value in part.items()} or REFERENCE

    @property
    def text(self) -> str:
        """The one way to write it on a line: ``none``, ``{"layers": "1-2"}``. `parse` reads it."""
        plain = self.plain
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)

    @property
    def label(self) -> str:
        """For eyes alone: ``reference``, ``1-2``, ``1-2 attention``, ``reference frozen 0-3``, ``1-2 recipe=small``."""
        first = any(not each.follows for each in self.interventions)
        return self.change if first else " ".join(filter(None, ("reference", self.change)))

    @property
    def change(self) -> str:
        """For eyes alone, as a difference to the reference: ``1-2``, ``frozen 0-3``; "" of the reference."""
        words = [";".join(each.label for each in self.interventions if not each.follows)]
        words += [each.label for each in self.interventions if each.follows]
        return " ".join(filter(None, [*words, f"recipe={self.recipe}" if self.recipe else ""]))

    def find(self, kind: type[Kind]) -> Kind | None:
        """Its intervention of a kind; None where it has none, or several."""
        matching = [each for each in self.interventions if isinstance(each, kind)]
        return matching[0] if len(matching) == 1 else None

    @property
    def is_reference(self) -> bool:
        """Whether nothing is done to the encoder; a recipe of its own does nothing to it."""
        return not self.interventions and self.recipe is None

    @property
    def own_recipe(self) -> bool:
        """Whether it is trained with a recipe of its own, so that its settings differ from the reference's."""
        return self.recipe is not None or any(each.own_recipe for each in self.interventions)

    @property
    def reinit(self) -> Reinit | None:
        """The re-initialisation, where that is all that is done; None otherwise."""
        only = self.interventions[0] if len(self.interventions) == 1 else None
        return only if isinstance(only, Reinit) else None

    @property
    def start(self) -> str:
        """What training begins with: ``encoder``, ``adapted``, ``scratch`` or ``bilstm``."""
        start = self.find(Start)
        return start.start if start else "encoder"

    @property
    def factor(self) -> str | None:
        """The factor of pretraining; None: the default."""
        factor = self.find(Factor)
        return factor.name if factor else None

    @property
    def trains_all(self) -> bool:
        """Whether every parameter of the encoder is trained."""
        return all(not each.follows for each in self.interventions)

    def reinitialised(self, depth: int) -> tuple[int, ...]:
        """The layers that are re-initialised whole, where nothing else is done; () otherwise."""
        only = self.reinit
        return parse_layers(only.layers, depth) if only and only.components == "all" else ()

    def is_untrained(self, depth: int) -> bool:
        """Whether everything is re-initialised, embeddings included, and nothing frozen."""
        layers = {
            layer
            for each in self.interventions
            if isinstance(each, Reinit) and each.components == "all"
            for layer in parse_layers(each.layers, depth)
        }
        return len(layers) == depth + 1

    def up_to(self, *stages: Stage) -> "Condition":
        """What of it acts in these stages."""
        return Condition.of(tuple(each for each in self.interventions if each.stage in stages))

    def scaled(self, *, written_for: int | None, depth: int) -> "Condition":
        """The same thirds, quarters or twelfths of an encoder of another depth; see `Intervention.scaled`."""
        parts = tuple(each.scaled(written_for=written_for, depth=depth) for each in self.interventions)
        return Condition.of(parts, self.recipe)

    @property
    def columns(self) -> dict[str, str | None]:
        """What records say of it: see `crosslens.results.record.Record`."""
        reinit = [each for each in self.interventions if isinstance(each, Reinit)]
        return {
            "condition": self.text,
            "layers": ";".join(each.acts_on for each in self.interventions if each.acts_on) or None,
            "ablation": ";".join(each.layers for each in reinit) or None,
            "components": ";".join(each.components for each in reinit) or None,
            "factor": self.factor,
            "start": None if self.start == "encoder" else self.start,
        }
