"""Records of the interventions applied to an encoder."""

from dataclasses import dataclass

from crosslens.encoders.interventions.intervention import Intervention


@dataclass(frozen=True, slots=True)
class Change:
    """An intervention applied to an encoder after loading.

    Attributes:
        intervention: the intervention.
        seed: random seed; None if nothing is random.
        tensors: names of the changed or frozen parameters.
        shared: names of the parameters that the affected layers share with others; also in ``tensors`` if they were
            changed or frozen.
    """

    intervention: Intervention
    seed: int | None = None
    tensors: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """One line for logs: ``frozen: 16 tensors of layers 1``, and the treatment of shared tensors."""
        if self.intervention.edits_states:
            return f"states replaced: {self.intervention.label}"
        verb, layers = self.intervention.verb, self.intervention.acts_on
        kept = [name for name in self.shared if name not in self.tensors]
        changed = [name for name in self.shared if name in self.tensors]
        text = f"{verb}: {len(self.tensors)} tensors of layers {layers}"
        text += f", among them what all layers share: {', '.join(changed)}" if changed else ""
        return text + (f"; all layers share {', '.join(kept)}, which is not {verb}" if kept else "")
