"""Read a decoder as an encoder: attention in both directions, repeated input, the last subword of a word."""

from typing import Literal

from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.matmul import find_precision, slowness
from crosslens.encoders.options import Precision
from crosslens.errors import warn


def read_as(
    encoder: Encoder,
    *,
    bidirectional: str | int | None = None,
    repeat: int = 1,
    subword: Literal["first", "last"] = "first",
    precision: Precision | Literal["auto"] | None = None,
) -> Encoder:
    """Set how an encoder or decoder reads text; see `crosslens.encoders.interventions.reading.Reading`.

    Args:
        encoder: not modified.
        bidirectional: layers of a decoder that lose their causal mask, ``all`` or ``1-3``; None: all keep it.
        repeat: number of copies of the input in a row; the last one represents words and texts.
        subword: subword that represents a word.
        precision: number format of all forward passes; ``auto``: bfloat16 if the device computes it faster than
            float32; None: unchanged. A warning is given where bfloat16 is slower.

    Returns:
        An encoder with the same weights, for training, comparing and probing; records name the setting as part of the
        condition.

    Raises:
        RequestError: for an invalid value.
        EncoderError: for layers that the encoder does not have or that have no causal mask, or an encoder whose reading
            was set before.

    Examples:
        >>> twice = xl.read_as(encoder, repeat=2, subword="last")
        >>> twice.condition.label
        'reference repeat=2 subword=last'
        >>> xl.read_as(encoder, precision="bfloat16").precision
        'bfloat16'
    """
    require_encoder(encoder)
    condition = Condition.read({"bidirectional": bidirectional, "repeat": repeat, "subword": subword})
    for intervention in condition.interventions:
        encoder = intervention.apply(encoder, seed=0)
    if precision is None:
        return encoder
    chosen = find_precision(precision, encoder.device, family=encoder.family.name)
    if (warning := slowness(chosen, encoder.device)) is not None:
        warn(warning)
    return InPrecision(precision=chosen).apply(encoder, seed=0)
