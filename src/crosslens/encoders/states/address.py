"""Addresses of states inside an encoder: ``layers × component × unit``.

``5`` is what layer 5 adds to the residual stream (attention and feed-forward part), ``5-6`` two layers, ``5.attention``
and ``5.ffn`` one of the parts, ``5.attention.head.3`` a head, ``5.ffn.neuron.17-20`` neurons, ``5.output`` the states
after layer 5, and ``0`` the embeddings. Layers count from 1, heads and neurons from 0, as in transformers. In a study,
``*`` stands for each layer or each head: ``*.attention.head.*`` is one condition for every head.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from crosslens.encoders.layers import EACH, format_layers, layer_ranges, parse_layers, scale_layers
from crosslens.errors import EncoderError

Component = Literal["all", "attention", "ffn", "output"]
"""Part of a layer: all that it adds, one of its two parts, or the states after it."""

UNITS = {"head": "attention", "neuron": "ffn"}
"""Unit -> the component that has it."""

FORMS = "write 5, 5-6, 5.attention, 5.ffn, 5.output, 5.attention.head.3 or 5.ffn.neuron.17; 0 is the embeddings"

_ADDRESS = re.compile(
    r"(?P<layers>[0-9a-z,\-]+|\*)(\.(?P<component>[a-z]+)(\.(?P<unit>[a-z]+)\.(?P<numbers>[0-9,\-]+|\*))?)?"
)
MOST = 1_000_000
"""More units than any encoder has."""


@dataclass(frozen=True)
class Address:
    """States inside an encoder, independent of the encoder.

    Attributes:
        layers: layer specification, see `crosslens.encoders.layers`.
        component: part of the layers.
        units: heads or neurons as a specification such as ``3`` or ``17-20``; None: all.
    """

    layers: str
    component: Component = "all"
    units: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Parse an address.

        >>> Address.parse("5-6.attention.head.3")
        Address(layers='5-6', component='attention', units='3')

        Raises:
            EncoderError: for an invalid address.
        """
        match = _ADDRESS.fullmatch("".join(text.split()))
        component: Any = (match and match["component"]) or "all"
        unit = match and match["unit"]
        if match is None or component not in ("all", *UNITS.values(), "output") or match["component"] == "all":
            raise EncoderError(f"invalid address {text!r}", hint=FORMS)
        if unit and UNITS.get(unit) != component:
            raise EncoderError(f"invalid address {text!r}: {component} has no unit {unit!r}", hint=FORMS)
        if match["layers"] != EACH:
            layer_ranges(match["layers"])
        if match["numbers"] == EACH:
            return cls(match["layers"], component, EACH)
        units = match["numbers"] and _numbers(match["numbers"], text)
        return cls(match["layers"], component, format_layers(units) if units else None)

    def __str__(self) -> str:
        unit = next((name for name, component in UNITS.items() if component == self.component), "")
        parts = [self.layers, *([self.component] if self.component != "all" else [])]
        return ".".join([*parts, *([unit, self.units] if self.units else [])])

    def each(self, *, depth: int, heads: int) -> "tuple[Address, ...]":
        """List what ``*`` stands for in an encoder; empty without ``*``.

        >>> [str(address) for address in Address.parse("*.attention.head.*").each(depth=2, heads=2)]
        ['1.attention.head.0', '1.attention.head.1', '2.attention.head.0', '2.attention.head.1']

        Raises:
            EncoderError: for each neuron, of which there are too many.
        """
        if EACH not in (self.layers, self.units):
            return ()
        if self.units == EACH and self.component == "ffn":
            raise EncoderError(f"{self} are too many neurons to take each", hint="name some: 5.ffn.neuron.17-20")
        layers = [str(layer) for layer in range(1, depth + 1)] if self.layers == EACH else [self.layers]
        units = [str(head) for head in range(heads)] if self.units == EACH else [self.units]
        return tuple(replace(self, layers=layer, units=unit) for layer in layers for unit in units)

    def scaled(self, *, written_for: int | None, depth: int) -> "Address":
        """Scale the layers to an encoder of another depth; heads and neurons stay."""
        return replace(self, layers=scale_layers(self.layers, written_for, depth))


def _numbers(text: str, address: str) -> tuple[int, ...]:
    try:
        return parse_layers(text, MOST)
    except EncoderError:
        raise EncoderError(f"invalid numbers {text!r} in address {address!r}", hint=FORMS) from None
