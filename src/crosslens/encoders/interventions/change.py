"""Records of the interventions applied to an encoder."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, cast

from crosslens.encoders.interventions.intervention import Intervention

if TYPE_CHECKING:
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.states.corpus_intervention import CorpusIntervention
    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.state_intervention import Edit


class Fitted(Protocol):
    """An intervention on states with what it learnt from a corpus, of which it has the states."""

    @property
    def source(self) -> "CorpusStates":
        """States of the corpus."""
        ...

    def prepare(self, clean: "CorpusStates", *, seed: int) -> "Edit":
        """Prepare the intervention for another corpus."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """An intervention applied to an encoder after loading.

    Attributes:
        seed: random seed; None if nothing is random.
        tensors: names of the changed or frozen parameters.
        shared: names of the parameters that the affected layers share with others; also in ``tensors`` if they were
            changed or frozen.
        fitted: what the intervention learnt from a corpus, if it learns from one.
    """

    intervention: Intervention
    seed: int | None = None
    tensors: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    fitted: "Fitted | None" = field(default=None, compare=False, repr=False)

    def refitted(self, encoder: "Encoder") -> "Change":
        """Return this change with the states that an encoder with other weights has of the corpus, if it needs any."""
        if self.fitted is None:
            return self
        from crosslens.encoders.states.corpus_states import CorpusStates

        source, intervention = self.fitted.source, cast("CorpusIntervention", self.intervention)
        own = encoder.unedited.for_language(source.encoder.language)
        return replace(self, fitted=intervention.fitted(CorpusStates(own, source.windows, source.corpus)))

    @property
    def described(self) -> str:
        """One line for logs: ``frozen: 16 tensors of layers 1``, and the treatment of shared tensors."""
        if self.intervention.edits_states:
            return f"states replaced: {self.intervention.label}"
        verb, layers = self.intervention.verb, self.intervention.acts_on
        if self.intervention.of_reference or layers is None:
            return self.intervention.label
        kept = [name for name in self.shared if name not in self.tensors]
        changed = [name for name in self.shared if name in self.tensors]
        text = f"{verb}: {len(self.tensors)} tensors of layers {layers}"
        text += f", among them what all layers share: {', '.join(changed)}" if changed else ""
        return text + (f"; all layers share {', '.join(kept)}, which is not {verb}" if kept else "")
