"""Erase the language of states: move the mean of the evaluated language to that of another one, the source language.

Where two classes have equal means, no linear probe tells them apart (Belrose et al. 2023, LEACE, theorem 3.1). Removing
means of languages follows Libovický et al. (2020), https://arxiv.org/abs/2004.05160.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from crosslens.encoders.states.corpus_intervention import CorpusIntervention
from crosslens.encoders.states.state_intervention import Edit, Inputs
from crosslens.formatting import short_name

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site

SENTENCES = 1000
"""Most sentences of the source language that its mean is computed from, spread evenly over the corpus."""


class Erase(CorpusIntervention):
    """Shift states so that their mean over the corpus is the mean over a corpus of the source language.

    First, inner and last subwords are shifted each by the difference of their own means, as in `Mean`. Differences
    between words stay. Means are those of states without interventions, so shifts at several layers, such as
    ``4-6.output``, add up and go beyond the source language.

    Attributes:
        corpus: name of the source language's corpus; None: in a study the training corpus, in Python the argument
            ``reference`` of `crosslens.intervene`.
        dose: factor of the shift; negative: away from the source language.
        control: ``random`` shifts as far in a random direction.
    """

    kind = "erase"
    keys: ClassVar = {
        "erase": "at",
        "erase_to": "corpus",
        "erase_digest": "digest",
        "erase_dose": "dose",
        "erase_control": "control",
        "erase_seed": "seed",
    }
    most = SENTENCES

    dose: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    control: Literal["random"] | None = None

    @property
    def label(self) -> str:
        """``erase 5.output``, ``erase 5.output to ud/en_pud``."""
        return " ".join([self.treatment, self.at, *(["to", short_name(self.corpus)] if self.corpus else [])])

    @property
    def dosed(self) -> str:
        """``erase``; ``erase=0.5`` with another dose, ``erase=random`` for the control."""
        words = [*([f"{self.dose:g}"] if self.dose != 1 else []), *([self.control] if self.control else [])]
        return "=".join(["erase", *([" ".join(words)] if words else [])])

    @property
    def random(self) -> bool:
        """Whether it is the control."""
        return self.control is not None

    def fitted(self, source: "CorpusStates") -> "Erasure":
        """Return the erasure with the means of the source language."""
        from crosslens.encoders.states.sites import sites

        source.means(sites(source.encoder, self.at))  # asked for now, so that one pass gives those of all erasures
        return Erasure(self, source)


@dataclass(frozen=True, slots=True, eq=False)
class Erasure:
    """An erasure with the means of the source language.

    Attributes:
        intervention: where, and whether it is the control.
        source: states of the corpus of the source language.
    """

    intervention: Erase
    source: "CorpusStates"

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Compute the shift of a corpus from its own means.

        Raises:
            RequestError: for a corpus that is joined from several languages.
        """
        import torch

        from crosslens.encoders.states.mean import places_of
        from crosslens.encoders.states.sites import sites

        clean.require_one_language(self.intervention)
        places = sites(clean.encoder, self.intervention.at)
        asked = clean.means(places)
        means = self.source.means(sites(self.source.encoder, self.intervention.at))

        @cache
        def shifts() -> "dict[str, Tensor]":
            own, source, dose = asked(), means(), self.intervention.dose
            shifts = {name: dose * (source[name].to(mean) - mean) for name, mean in own.items()}
            if self.intervention.control:
                generator = torch.Generator().manual_seed(seed)
                for name, shift in shifts.items():
                    direction = torch.randn(shift.shape, generator=generator, dtype=torch.float64)
                    direction /= direction.norm(dim=1, keepdim=True)
                    shifts[name] = direction.to(shift) * shift.norm(dim=1, keepdim=True)
            return shifts

        def shifted(inputs: Inputs) -> "Replacement":
            chosen, by_place = places_of(inputs.mask), shifts()

            def replacement(site: "Site", states: "Tensor") -> "Tensor":
                return states + torch.einsum("pwl,pc->wlc", chosen.to(states), by_place[site.name].to(states))

            return replacement

        return Edit(places, shifted)
