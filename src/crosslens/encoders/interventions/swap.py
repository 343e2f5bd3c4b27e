"""Exchange layers of a trained encoder for the pretrained ones or another copy's, or add what another training changed.

Layer swapping follows Bandarkar et al. (2025), https://arxiv.org/abs/2410.01335. Adding changes is task arithmetic
(Ilharco et al. 2023, https://arxiv.org/abs/2212.04089); Ansell et al. (2022, https://arxiv.org/abs/2110.07560) add
sparse changes of a language and of a task.
"""

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import Field

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
        return layers_from(encoder, same_pretrained(encoder, pretrained), self)


class FromOther(Intervention):
    """An intervention with the weights of another copy of the same encoder, fine-tuned or adapted.

    Attributes:
        layers: affected layers; 0 is the embeddings.
        other: name of the other encoder.
        other_digest: first digits of its digest.
    """

    stage = "after training"

    layers: Layers
    other: str
    other_digest: str | None = None

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Refused: the other encoder is not known by name here."""
        raise RequestError(f"{self.kind} needs another model", hint="use crosslens.intervene or `crosslens evaluate`")

    def recorded(self, other: "Encoder") -> Self:
        """The same intervention with the digest of the other encoder, as in records."""
        from crosslens.lab.presets import given_name

        return self.model_copy(update={"other": given_name(self.other), "other_digest": other.digest[:12]})


class Swap(FromOther):
    """Take layers from another copy of the same encoder."""

    kind = "swap"
    keys: ClassVar = {"swap": "layers", "swap_from": "other", "swap_digest": "other_digest"}
    verb = "swapped"

    @property
    def label(self) -> str:
        """``swap 1-2 from adapted``."""
        return f"swap {self.layers} from {short_name(self.other)}"

    def take(self, encoder: "Encoder", other: "Encoder") -> "Encoder":
        """Return a copy of an encoder with these layers of another one."""
        return layers_from(encoder, other, self.recorded(other))


class Add(FromOther):
    """Add what another training of the same pretrained encoder changed in these layers.

    A weight w becomes ``w + scale * (other - pretrained)``.

    Attributes:
        scale: factor of the change.
    """

    kind = "add"
    keys: ClassVar = {"add": "layers", "add_from": "other", "add_digest": "other_digest", "add_scale": "scale"}

    scale: Annotated[float, Field(allow_inf_nan=False)] = 1.0

    @property
    def label(self) -> str:
        """``add change of 1-2 from adapted``."""
        return f"add change of {self.layers} from {short_name(self.other)}{self._times}"

    @property
    def treatment(self) -> str:
        """``add change``; ``add change × 0.5`` if scaled."""
        return f"add change{self._times}"

    @property
    def _times(self) -> str:
        return "" if self.scale == 1 else f" × {self.scale:g}"

    def take(self, encoder: "Encoder", other: "Encoder", pretrained: "Encoder") -> "Encoder":
        """Return a copy of an encoder with the change from the pretrained encoder to another one added.

        Raises:
            EncoderError: if the encoder was not fine-tuned from this pretrained one.
        """
        before = same_pretrained(encoder, pretrained)
        return layers_from(encoder, other, self.recorded(other), changed_from=before, scale=self.scale)


def same_pretrained(encoder: "Encoder", pretrained: "Encoder") -> "Encoder":
    """Return the pretrained encoder.

    Raises:
        EncoderError: if the encoder was not fine-tuned from it.
    """
    if pretrained.digest != encoder.loaded_digest:
        raise EncoderError(
            f"{pretrained.name} is not the encoder that was fine-tuned",
            hint="name an unchanged copy of it: crosslens.intervene(…, pretrained=…)",
        )
    return pretrained


def layers_from(
    encoder: "Encoder",
    other: "Encoder",
    intervention: Revert | FromOther,
    *,
    changed_from: "Encoder | None" = None,
    scale: float = 1.0,
) -> "Encoder":
    """Return a copy of an encoder that has the layers of another encoder, or their change from a third one added.

    What all layers share comes along only with the whole encoder, ``0,all``.

    Args:
        encoder: not modified.
        other: encoder of the same architecture and vocabulary.
        intervention: what is recorded; its layers are exchanged.
        changed_from: the encoder that the change is measured from; None: layers are exchanged.
        scale: factor of the change.

    Raises:
        EncoderError: if the two differ in the names or shapes of their parameters, or in their vocabulary.
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
    if changed_from is None:
        for name in taken:
            target[name].data.copy_(source[name].data)
    else:
        before = dict(changed_from.model.named_parameters())
        for name in taken:
            target[name].data.add_(source[name].data.float() - before[name].data.float(), alpha=scale)
    recorded = intervention.model_copy(update={"layers": format_layers(chosen)})
    change = Change(recorded, tensors=tuple(taken), shared=copied.shared_names(chosen))
    return copied.changed(change, since=encoder)
