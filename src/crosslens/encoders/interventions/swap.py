"""Exchange layers of a trained encoder: back to the pretrained weights, or for those of another copy.

Layer swapping follows Bandarkar et al. (2025), https://arxiv.org/abs/2410.01335.
"""

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.interventions.intervention import Intervention, Layers
from crosslens.encoders.layers import format_layers, parse_layers
from crosslens.errors import EncoderError, RequestError
from crosslens.formatting import short_name

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class Revert(Intervention):
    """Return layers of a fine-tuned encoder to the weights that fine-tuning began with before any intervention.

    Attributes:
        layers: reverted layers; 0 is the embeddings.
    """

    kind = "revert"
    stage = "after training"
    keys: ClassVar = {"revert": "layers"}
    verb = "reverted"

    layers: Layers

    @property
    def label(self) -> str:
        """``revert 1-2``."""
        return f"revert {self.layers}"

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Load the pretrained encoder again and take its layers; the seed is not used.

        Raises:
            EncoderError: if the pretrained encoder is not found, or is another one now.
        """
        from crosslens.encoders.load import load_encoder

        return self.take(encoder, load_encoder(encoder.name, device=encoder.device))

    def take(self, encoder: "Encoder", pretrained: "Encoder") -> "Encoder":
        """Return a copy of an encoder with these layers of the encoder it was before any change and training.

        Raises:
            EncoderError: if it was another encoder.
        """
        if pretrained.digest != encoder.loaded_digest:
            raise EncoderError(
                f"{encoder.name} is not the encoder that was fine-tuned", hint="use swap, and name the encoder"
            )
        return layers_from(encoder, pretrained, self)


class Swap(Intervention):
    """Take layers from another copy of the same encoder, fine-tuned or adapted.

    Attributes:
        layers: exchanged layers; 0 is the embeddings.
        swap_from: name of the other encoder.
        swap_digest: first digits of its digest.
    """

    kind = "swap"
    stage = "after training"
    keys: ClassVar = {"swap": "layers", "swap_from": "swap_from", "swap_digest": "swap_digest"}
    verb = "swapped"

    layers: Layers
    swap_from: str
    swap_digest: str | None = None

    @property
    def label(self) -> str:
        """``swap 1-2 from adapted``."""
        return f"swap {self.layers} from {short_name(self.swap_from)}"

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Refused: the other encoder is not known by name here."""
        raise RequestError("swap needs another model", hint="use crosslens.intervene or `crosslens evaluate`")

    def take(self, encoder: "Encoder", other: "Encoder") -> "Encoder":
        """Return a copy of an encoder with these layers of another one."""
        from crosslens.lab.presets import given_name

        recorded = {"swap_from": given_name(self.swap_from), "swap_digest": other.digest[:12]}
        return layers_from(encoder, other, self.model_copy(update=recorded))


def layers_from(encoder: "Encoder", other: "Encoder", intervention: Revert | Swap) -> "Encoder":
    """Return a copy of an encoder that has the layers of another encoder.

    What all layers share comes along only with the whole encoder, ``0,all``.

    Args:
        encoder: not modified.
        other: encoder of the same architecture and vocabulary.
        intervention: what is recorded; its layers are exchanged.

    Raises:
        EncoderError: if the two differ in architecture, sizes or vocabulary.
    """
    from crosslens.encoders.interventions.change import Change
    from crosslens.encoders.models.held_weights import hold_in_float32

    chosen = parse_layers(intervention.layers, encoder.depth)
    model = copy.deepcopy(encoder.model)
    copied = replace(encoder, model=model)
    shapes = [
        {name: tuple(parameter.shape) for name, parameter in each.model.named_parameters()} for each in (encoder, other)
    ]
    if shapes[0] != shapes[1] or encoder.tokenizer.get_vocab() != other.tokenizer.get_vocab():
        raise EncoderError(
            f"layers of {other.name} do not fit into {encoder.name}", hint="use copies of one pretrained encoder"
        )
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    if len(chosen) == encoder.depth + 1:
        taken = list(names.values())
    else:
        parameters = [p for layer in chosen if layer for p in copied.own(layer).values()]
        parameters += copied.outside(everything=False).values() if 0 in chosen else ()
        taken = [names[id(parameter)] for parameter in parameters]
    source = dict(other.model.named_parameters())
    target = dict(model.named_parameters())
    hold_in_float32(target[name] for name in taken)
    for name in taken:
        target[name].data.copy_(source[name].data)
    recorded = intervention.model_copy(update={"layers": format_layers(chosen)})
    change = Change(recorded, tensors=tuple(taken), shared=copied.shared_names(chosen))
    return copied.changed(change, since=encoder)
