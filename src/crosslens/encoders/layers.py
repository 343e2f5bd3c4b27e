"""How layers are named: they count from 1, and 0 is the embeddings.

``1-2`` is two layers, ``1-3,7`` four, ``all`` every layer but not the embeddings, and ``0,all`` everything.
"""

from collections.abc import Iterable

from crosslens.errors import EncoderError


def parse_layers(spec: str | int | Iterable[int], depth: int) -> tuple[int, ...]:
    """The layers that a specification names, sorted, each once.

    Args:
        spec: ``1-2``, ``1-3,7``, ``all``, ``0,all``, a number, or numbers.
        depth: how many layers the encoder has.

    Raises:
        EncoderError: when it names none, or one that is not there.
    """
    allowed = f"this encoder has layers 1 to {depth}, and 0 is the embeddings"
    named: set[int] = set()
    if isinstance(spec, str):
        for part in spec.split(","):
            first, dash, last = (word.strip() for word in part.partition("-"))
            if first == "all" and not dash:
                named.update(range(1, depth + 1))
            elif first.isdecimal() and (last.isdecimal() if dash else True):
                low, high = int(first), int(last or first)
                if low > high:
                    raise EncoderError(
                        f"invalid layer range {part.strip()!r}: the first layer is above the last",
                        hint=f"write {high}-{low}",
                    )
                if high > depth:
                    raise EncoderError(f"layer {high} does not exist", hint=allowed)
                named.update(range(low, high + 1))
            else:
                raise EncoderError(f"invalid layers {spec!r}", hint=f"write 1-2, 1-3,7 or all; {allowed}")
    else:
        named.update([spec] if isinstance(spec, int) else spec)
    if not named:
        raise EncoderError("no layers given", hint=allowed)
    for layer in sorted(named):
        if not 0 <= layer <= depth:
            raise EncoderError(f"layer {layer} does not exist", hint=allowed)
    return tuple(sorted(named))


def format_layers(layers: Iterable[int]) -> str:
    """The shortest way to write layers: ``(1, 2, 3, 7)`` is ``1-3,7``."""
    runs: list[list[int]] = []
    for layer in sorted(set(layers)):
        if runs and layer == runs[-1][1] + 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def scale_layers(layers: str, written_for: int | None, depth: int) -> str:
    """The layers of an encoder of this depth that named layers overlap when both stacks are drawn equally tall.

    Args:
        layers: as `parse_layers` reads them.
        written_for: the depth that they are meant for; None: this one.
        depth: the encoder's.
    """
    written_for = written_for or depth
    kept: set[int] = set()
    for layer in parse_layers(layers, written_for):
        first, last = (layer - 1) * depth // written_for, -(-layer * depth // written_for)
        kept |= set(range(first + 1, last + 1)) if layer else {0}
    return format_layers(kept)
