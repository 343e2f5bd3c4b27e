"""Layer specifications: layers count from 1, and 0 is the embeddings.

``1-2`` selects two layers, ``1-3,7`` four, ``all`` every layer but not the embeddings, ``0,all`` everything.
"""

import re
from collections.abc import Iterable
from itertools import product
from operator import index
from typing import Literal, Protocol, get_args

from crosslens.errors import EncoderError, RequestError, require_known

LayerPairs = Literal["same", "relative", "all-pairs"]
"""Compared layers of two encoders: of the same number, at the same relative depth, or each with each."""


class Layered(Protocol):
    """Anything with a name and a number of layers besides the embeddings."""

    @property
    def name(self) -> str: ...

    @property
    def depth(self) -> int: ...


EACH = "*"
"""In a study: each layer or head in a condition of its own."""

_NUMBER = re.compile("[0-9]{1,9}")
"""A layer. Other digits than ASCII's would be another name of the same condition."""


def parse_layers(spec: str | int | Iterable[int], depth: int) -> tuple[int, ...]:
    """Parse a layer specification into sorted, distinct layer numbers.

    >>> parse_layers("1-3,7", depth=12)
    (1, 2, 3, 7)
    >>> parse_layers("0,all", depth=3)
    (0, 1, 2, 3)

    Args:
        spec: ``1-2``, ``1-3,7``, ``all``, ``0,all``, a layer number, or several.

    Raises:
        EncoderError: for an invalid or empty specification, or a layer that the encoder does not have.
    """
    allowed = f"this encoder has layers 1 to {depth}, and 0 is the embeddings"
    selected: set[int] = set()
    if isinstance(spec, str):
        for part in layer_ranges(spec):
            low, high = part or (1, depth)
            if high > depth:
                raise EncoderError(f"layer {high} does not exist", hint=allowed)
            selected.update(range(low, high + 1))
    else:
        try:
            selected.update(map(index, spec if isinstance(spec, Iterable) else [spec]))
        except TypeError:
            raise EncoderError(
                f"invalid layers {spec!r}", hint="write '1-2', '1-3,7' or 'all', or give integers"
            ) from None
    if not selected:
        raise EncoderError("no layers given", hint=allowed)
    for layer in sorted(selected):
        if not 0 <= layer <= depth:
            raise EncoderError(f"layer {layer} does not exist", hint=allowed)
    return tuple(sorted(selected))


def layer_ranges(spec: str) -> list[tuple[int, int] | None]:
    """Read the ranges of a layer specification, which need not exist in any encoder; None stands for all layers.

    >>> layer_ranges("0,all"), layer_ranges("1-3,7")
    ([(0, 0), None], [(1, 3), (7, 7)])

    Raises:
        EncoderError: for an invalid specification.
    """
    ranges: list[tuple[int, int] | None] = []
    for part in spec.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if first == "all" and not dash:
            ranges.append(None)
        elif _NUMBER.fullmatch(first) and (_NUMBER.fullmatch(last) or not dash):
            low, high = int(first), int(last or first)
            if low > high:
                raise EncoderError(
                    f"invalid layer range {part.strip()!r}: the first layer is above the last",
                    hint=f"write {high}-{low}",
                )
            ranges.append((low, high))
        elif first == EACH:
            raise EncoderError(f"invalid layers {spec!r}", hint="write all; only in a study, * stands for each layer")
        else:
            raise EncoderError(f"invalid layers {spec!r}", hint="write 1-2, 1-3,7 or all")
    return ranges


def format_layers(layers: Iterable[int]) -> str:
    """Write layers as the shortest specification.

    >>> format_layers((1, 2, 3, 7))
    '1-3,7'
    """
    runs: list[list[int]] = []
    for layer in sorted(set(layers)):
        if runs and layer == runs[-1][1] + 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def scale_layers(layers: str, written_for: int | None, depth: int) -> str:
    """Scale layers from one depth to another: select all layers that overlap the same share of the stack.

    >>> scale_layers("1-2", written_for=12, depth=24)
    '1-4'
    >>> scale_layers("1-2", written_for=12, depth=4)
    '1'

    Args:
        layers: layer specification, see `parse_layers`.
        written_for: depth for which the layers were written; None: the same as ``depth``.
    """
    written_for = written_for or depth
    scaled: set[int] = set()
    for layer in parse_layers(layers, written_for):
        first, last = (layer - 1) * depth // written_for, -(-layer * depth // written_for)
        scaled |= set(range(first + 1, last + 1)) if layer else {0}
    return format_layers(scaled)


def pair_layers(source: Layered, target: Layered, *, layers: LayerPairs = "same") -> list[tuple[int, int]]:
    """Pair the layers of two encoders, including the embeddings (0).

    Args:
        layers: ``same`` for layers of the same number; ``relative`` for each layer of the shallower encoder with the
            layer of the other encoder at the same share of its depth, halves rounded up; ``all-pairs`` for each layer
            with each.

    Returns:
        Pairs of layers, in ascending order.

    Raises:
        RequestError: for ``same`` if the encoders differ in depth; for an unknown pairing.
    """
    require_known(layers, get_args(LayerPairs), "unknown pairing of layers")
    depths = (source.depth, target.depth)
    if layers == "all-pairs":
        return list(product(range(source.depth + 1), range(target.depth + 1)))
    if layers == "same" and len(set(depths)) > 1:
        raise RequestError(
            f"encoders must have the same number of layers, but {source.name} has {source.depth}, {target.name}"
            f" {target.depth}",
            hint="relative layers (--layers relative, or --against-layers relative of align transfer) are paired at the"
            " same relative depth",
        )
    shallow = min(depths)
    return [
        (_scaled(layer, shallow, source.depth), _scaled(layer, shallow, target.depth)) for layer in range(shallow + 1)
    ]


def _scaled(layer: int, shallow: int, depth: int) -> int:
    return layer if depth == shallow else (2 * layer * depth + shallow) // max(2 * shallow, 1)


def name_layer(pair: tuple[int, int], source: Layered, target: Layered) -> dict[str, int | None]:
    """Columns of records that name a pair of layers: ``layer`` and ``target_layer``.

    Returns:
        ``target_layer`` is None for layers of the same number in encoders of the same depth.
    """
    layer, other = pair
    return {"layer": layer, "target_layer": None if layer == other and source.depth == target.depth else other}
