"""LoRA: fine-tuning trains a low-rank update of linear modules (Hu et al. 2022), with PEFT."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from crosslens.encoders.interventions.intervention import Intervention, Layers, Option
from crosslens.encoders.layers import parse_layers
from crosslens.errors import EncoderError, RequestError

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder


class Lora(Intervention):
    """Train the update ``alpha / rank * B A`` of linear modules in place of the encoder's own parameters.

    A and B have `rank` rows and columns; B begins with zeros, so that training begins with the encoder unchanged. After
    training, the update is added to the weights: the model is an ordinary encoder, for everything that follows.

    Attributes:
        layers: layers whose linear modules are updated; the embeddings (0) have none.
        components: parts of those layers.
        alpha: factor of the update, divided by the rank; None: the rank, so that the factor is 1.
    """

    kind = "lora"
    keys: ClassVar = {"lora": "rank", "lora_layers": "layers", "lora_components": "components", "lora_alpha": "alpha"}
    options: ClassVar = {
        "lora": Option("--lora", "Rank of a low-rank update (LoRA) that is trained in place of the encoder."),
        "lora_layers": Option("--lora-layers", "Layers with a low-rank update: 5-6, or all.", "LAYERS"),
    }
    verb = "updated with low rank"
    follows = True
    once = "low-rank update"

    rank: Annotated[int, Field(ge=1)]
    layers: Layers = "all"
    components: Literal["all", "attention", "ffn"] = "all"
    alpha: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None

    @property
    def label(self) -> str:
        """``lora 8``, ``lora 8 of 5-6 attention alpha=16``."""
        words = [f"of {self.layers}"] if self.layers != "all" else []
        words += [self.components] if self.components != "all" else []
        words += [f"alpha={self.alpha:g}"] if self.alpha is not None else []
        return " ".join([f"lora {self.rank}", *words])

    @property
    def treatment(self) -> str:
        """``lora 8``, ``lora 8 attention``."""
        return self.model_copy(update={"layers": "all"}).label

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Record the update on a copy; `finetune` initialises and trains it. The seed is not used.

        Raises:
            EncoderError: for layers that the encoder does not have or that have no linear modules to train.
            RequestError: if PEFT is not installed.
        """
        from crosslens.encoders.interventions.change import Change

        require_peft()
        change = Change(self, tensors=tuple(f"{name}.weight" for name in self.targets(encoder)))
        return encoder.changed(change, since=encoder)

    def targets(self, encoder: "Encoder") -> list[str]:
        """Names of the linear modules that are updated; frozen ones are not.

        Raises:
            EncoderError: for layers that the encoder does not have or that have no linear modules to train.
        """
        from torch import nn

        from crosslens.encoders.reinit import in_component

        chosen = [encoder.layers[layer - 1] for layer in parse_layers(self.layers, encoder.depth) if layer]
        inside = {
            id(module)
            for layer in chosen
            for name, module in layer.named_modules()
            if isinstance(module, nn.Linear)
            and module.weight.requires_grad
            and in_component(layer, f"{name}.weight", self.components)
        }
        if not chosen:
            raise EncoderError(
                f"{encoder.name}: the embeddings (layer 0) have no linear modules for a low-rank update",
                hint=f"choose layers from 1 to {encoder.depth}, or all",
            )
        if not inside:
            raise EncoderError(
                f"{encoder.name}: layers {self.layers} have no linear modules that are trained",
                hint="choose other layers, or all",
            )
        return [name for name, module in encoder.model.named_modules() if id(module) in inside]

    def config(self, encoder: "Encoder") -> Any:
        """The settings as PEFT has them."""
        from peft import LoraConfig

        alpha = self.rank if self.alpha is None else self.alpha
        return LoraConfig(
            r=self.rank,
            lora_alpha=alpha,  # pyright: ignore[reportArgumentType]
            target_modules=self.targets(encoder),
            base_model_name_or_path=encoder.name,
        )


def require_peft() -> None:
    """Refuse work that needs PEFT where it is not installed.

    Raises:
        RequestError: naming the command that installs it.
    """
    try:
        import peft  # noqa: F401
    except ImportError:
        raise RequestError("LoRA needs PEFT", hint="pip install 'crosslens[lora]'") from None
