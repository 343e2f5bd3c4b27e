"""Command-line options of interventions."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
from pydantic_core import PydanticUndefined

from crosslens.encoders.interventions.intervention import Intervention
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.reading import Reading
from crosslens.encoders.models.quantize import Quantize

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


def intervention_options(*kinds: type[Intervention]) -> Callable:
    """Return the options of some kinds of interventions, in this order; they are named as the keys of study files."""
    options = [(key, kind, option) for kind in kinds for key, option in kind.options.items()]

    def decorate(command: Callable) -> Callable:
        for key, kind, option in reversed(options):
            field = kind.model_fields[kind.keys[key]]
            default = "" if field.default in (PydanticUndefined, None) else f" [default: {field.default}]"
            command = click.option(option.flag, key, metavar=option.metavar, help=option.help + default)(command)
        return command

    return decorate


precision_option = intervention_options(InPrecision)
"""Option of `crosslens.encoders.interventions.precision.InPrecision`, for commands that use a model."""

reading_options = intervention_options(Reading, InPrecision, Quantize)
"""Options of `crosslens.read_as` and ``--quantize``, for commands that read an encoder without training it."""


def read_with(encoder: "Encoder", options: Mapping[str, Any]) -> "Encoder":
    """Return an encoder that reads text as these options say; None stands for an option that was not given."""
    from crosslens.encoders.condition import Condition
    from crosslens.encoders.interventions.read_as import read_as

    given = {key: value for key, value in options.items() if value is not None}
    for intervention in Condition.read({"quantize": given.pop("quantize", None)}).interventions:
        encoder = intervention.apply(encoder, seed=0)
    return read_as(encoder, **given) if given else encoder
