"""RANDOM-INIT: re-initialise chosen layers, or parts of them, before fine-tuning (Muller et al. 2021, section 2.1)."""

from typing import TYPE_CHECKING, ClassVar, Literal

from crosslens.encoders.interventions.intervention import Intervention, Layers, Option

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder

Components = Literal["all", "attention", "ffn", "norms", "embeddings"]
"""Which parts of a layer are re-initialised."""

Init = Literal["architecture", "torch"]
"""Initialisation scheme: see `crosslens.encoders.reinit.random_init`."""


class Reinit(Intervention):
    """Re-initialise chosen layers before training.

    Attributes:
        layers: re-initialised layers; 0 is the embeddings.
        components: parts of those layers.
    """

    kind = "reinit"
    keys: ClassVar = {"layers": "layers", "components": "components", "init": "init"}
    verb = "re-initialised"
    options: ClassVar = {
        "layers": Option("--random-init", "Layers to re-initialise before training: 1-2, or all, or 0,all.", "LAYERS"),
        "components": Option("--components", "Parts to re-initialise: all, attention, ffn, norms or embeddings."),
        "init": Option("--init", "Initialisation scheme: architecture or torch."),
    }

    layers: Layers
    components: Components = "all"
    init: Init = "architecture"

    @property
    def label(self) -> str:
        """``1-2``, ``1-2 attention``, ``1-2 init=torch``."""
        return " ".join([self.layers, *self._settings])

    @property
    def whole_layers(self) -> bool:
        """Whether the label is only the layers: all their components, with the architecture's own initialiser."""
        return not self._settings

    @property
    def _settings(self) -> list[str]:
        words = [self.components] if self.components != "all" else []
        return words + ([f"init={self.init}"] if self.init != "architecture" else [])

    @property
    def treatment(self) -> str:
        """``re-initialised``, ``re-initialised attention``."""
        return " ".join([self.verb, *self._settings])

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return a copy with these layers re-initialised."""
        from crosslens.encoders.reinit import random_init

        return random_init(encoder, self.layers, seed=seed, components=self.components, init=self.init)
