"""Weights of an encoder rounded to eight bits, for encoders that are large for their device."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Literal

from crosslens.encoders.interventions.intervention import Intervention, Option
from crosslens.encoders.models.lora import Lora
from crosslens.errors import EncoderError, RequestError

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class Quantize(Intervention):
    """Round the weights of linear modules in the layers to eight bits, and hold them so: a quarter of the memory.

    Each row of a weight is rounded to multiples of its largest magnitude divided by 127. Embeddings, normalisations
    and biases stay as they are. Training leaves the rounded weights alone: it trains a low-rank update, or the layers
    and the readout that are not frozen.

    Attributes:
        quantize: number format of the weights.
    """

    kind = "quantize"
    keys: ClassVar = {"quantize": "quantize"}
    options: ClassVar = {
        "quantize": Option(
            "--quantize", "Format that the layers' weights are rounded to and held in: a quarter of the memory.", "int8"
        )
    }
    follows = True
    once = "number format of weights"

    quantize: Literal["int8"]

    @property
    def label(self) -> str:
        """``quantize=int8``."""
        return f"quantize={self.quantize}"

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return a copy with rounded weights, which shares all other parameters. The seed is not used.

        Raises:
            EncoderError: for layers without linear modules, such as those of GPT-2.
        """
        from crosslens.encoders.interventions.change import Change
        from crosslens.encoders.models.held_weights import copy_sharing, hold_in_int8

        if encoder.condition.find(Quantize) is not None:
            return encoder
        copied = replace(encoder, model=copy_sharing(encoder.model, encoder.model.parameters()))
        rounded = {id(module) for module in hold_in_int8(copied.layers, copied.model)}
        if not rounded:
            raise EncoderError(
                f"{encoder.name}: the layers of {encoder.family.name} have no linear modules to hold in eight bits",
                hint="leave out eight bits (--quantize), or compute in bfloat16 (--precision bfloat16)",
            )
        names = tuple(f"{name}.weight" for name, module in copied.model.named_modules() if id(module) in rounded)
        return copied.changed(Change(self, tensors=names), since=encoder)


def refuse_trained(encoder: "Encoder") -> None:
    """Refuse a training for which every rounded weight would have to be float32 again, before any is.

    Raises:
        RequestError: for weights in eight bits of which none is frozen, without a low-rank update.
    """
    from crosslens.encoders.models.int8_weight import Int8Weight

    rounded = [parameter for parameter in encoder.model.parameters() if isinstance(parameter, Int8Weight)]
    if rounded and encoder.condition.find(Lora) is None and all(parameter.requires_grad for parameter in rounded):
        raise RequestError(
            "all weights in eight bits would be trained, which needs them in float32",
            hint="train a low-rank update (--lora 8), freeze layers, or leave out eight bits (--quantize)",
        )
