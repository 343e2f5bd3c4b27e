"""Interventions as they were applied to an encoder."""

from dataclasses import dataclass

from crosslens.encoders.interventions.intervention import Intervention


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to an encoder after loading.

    Attributes:
        intervention: what.
        seed: of what was drawn; None: nothing was.
        tensors: names of the parameters that were changed or frozen.
        shared: names of the parameters that the layers acted on share with others; they are among the tensors where
            they were changed or frozen too.
    """

    intervention: Intervention
    seed: int | None = None
    tensors: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """``frozen: 16 tensors of layers 1``, and what became of tensors that the layers share with others."""
        verb, layers = self.intervention.verb, self.intervention.acts_on
        kept = [name for name in self.shared if name not in self.tensors]
        changed = [name for name in self.shared if name in self.tensors]
        text = f"{verb}: {len(self.tensors)} tensors of layers {layers}"
        text += f", among them what all layers share: {', '.join(changed)}" if changed else ""
        return text + (f"; all layers share {', '.join(kept)}, which is not {verb}" if kept else "")
