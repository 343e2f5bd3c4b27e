"""How a decoder reads text: attention in both directions, repeated input, and the subword that represents a word."""

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field

from crosslens.encoders.interventions.intervention import Intervention, Layers, Option
from crosslens.encoders.layers import format_layers, parse_layers, scale_layers
from crosslens.errors import EncoderError

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class Reading(Intervention):
    """Read text as an encoder does, although subwords of a decoder attend only to preceding ones.

    No weight is changed. A condition with these settings is compared with the reference that has the same ones.

    Attributes:
        bidirectional: layers without causal mask, in which each subword attends to all others (Dukić & Šnajder 2024);
            None: all layers keep their mask.
        repeat: number of copies of the input in a row; words and texts are represented by the last copy, which has
            seen the whole input even under a causal mask (Kukić et al. 2026).
        subword: subword that represents a word, ``first`` or ``last``. Under a causal mask only the last one has seen
            the whole word.
    """

    kind = "reading"
    keys: ClassVar = {"bidirectional": "bidirectional", "repeat": "repeat", "subword": "subword"}
    options: ClassVar = {
        "bidirectional": Option("--bidirectional", "Layers of a decoder that lose their causal mask: all, or 1-3."),
        "repeat": Option("--repeat", "Copies of the input in a row; the last one represents words and texts."),
        "subword": Option(
            "--subword", "Subword that represents a word (in word tasks, probe upos and pooling first): first or last."
        ),
    }
    follows = True
    of_reference = True
    once = "way of reading"

    bidirectional: Layers | None = None
    repeat: Annotated[int, Field(ge=1)] = 1
    subword: Literal["first", "last"] = "first"

    @property
    def label(self) -> str:
        """``bidirectional 1-6``, ``repeat=2 subword=last``."""
        words = [f"bidirectional {self.bidirectional}"] if self.bidirectional else []
        words += [f"repeat={self.repeat}"] if self.repeat > 1 else []
        words += [f"subword={self.subword}"] if self.subword != "first" else []
        return " ".join(words)

    def scaled(self, *, written_for: int | None, depth: int) -> Self:
        """Scale the bidirectional layers in proportion to the depth of an encoder."""
        layers = self.bidirectional and scale_layers(self.bidirectional, written_for, depth)
        return self.model_copy(update={"bidirectional": layers})

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return an encoder that reads text in this way from now on; it shares the model. The seed is not used.

        Raises:
            EncoderError: for layers that the encoder does not have, or that have no causal mask.
        """
        from crosslens.encoders.interventions.change import Change

        if self.bidirectional is None:
            return encoder.changed(Change(self), since=encoder)
        if not encoder.causal:
            raise EncoderError(
                f"{encoder.name} has no causal mask: its subwords attend to all others already",
                hint="leave out bidirectional",
            )
        layers = parse_layers(self.bidirectional, encoder.depth)
        if 0 in layers:
            raise EncoderError("the embeddings have no causal mask", hint="layers count from 1; all is every layer")
        canonical = self.model_copy(update={"bidirectional": format_layers(layers)})
        return encoder.changed(Change(canonical), since=encoder)
