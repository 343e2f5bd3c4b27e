"""The base class of interventions on the states of a trained encoder."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator

from crosslens.encoders.interventions.intervention import Intervention
from crosslens.encoders.states.address import Address
from crosslens.errors import EncoderError
from crosslens.settings import Seed

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.states.corpus_states import CorpusStates
    from crosslens.encoders.states.sites import Replacement, Site


def _canonical(value: Any) -> Any:
    try:
        return value if isinstance(value, bool) else str(Address.parse(str(value)))
    except EncoderError as error:
        raise ValueError(str(error)) from None


At = Annotated[str, BeforeValidator(_canonical)]
"""Address in canonical form."""


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Input of one forward pass; see `Encoder.states`.

    Attributes:
        ids: ``(windows, length)`` subword ids.
        mask: ``(windows, length)``, 0 for padding.
        segments: ``(windows, length)`` segments; None without pairs of texts.
    """

    ids: "Tensor"
    mask: "Tensor"
    segments: "Tensor | None"

    def windows(self) -> list[tuple[int, ...]]:
        """Identify each window by its subword ids without padding, and its segments."""
        kept = [self.ids] if self.segments is None else [self.ids, self.segments]
        lengths = self.mask.sum(1).tolist()
        return [
            tuple(value for tensor in kept for value in tensor[row, :length].tolist())
            for row, length in enumerate(lengths)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Edit:
    """An intervention prepared for an encoder and a corpus.

    Attributes:
        places: where states are replaced.
        replacement: function from the input of a forward pass to what replaces the states.
    """

    places: "list[Site]"
    replacement: "Callable[[Inputs], Replacement]"


class StateIntervention(Intervention):
    """Replace states of a trained encoder in every forward pass; no weight is changed and nothing is retrained.

    Attributes:
        at: address of the states, see `crosslens.encoders.states.address`.
        seed: random seed, of kinds that have a key for it; None: that of the model's training.
    """

    stage = "after training"
    edits_states = True

    at: At
    seed: Seed | None = None

    @property
    def label(self) -> str:
        """``zero 5-6``, ``noise=0.5 5.output``."""
        return f"{self.treatment} {self.at}"

    @property
    def treatment(self) -> str:
        """``zero``, ``noise=0.5``, ``noise=0.5 seed=2``."""
        return self.dosed if self.seed is None else f"{self.dosed} seed={self.seed}"

    @property
    def dosed(self) -> str:
        """``zero``; with its dose where there is one."""
        return self.kind

    @property
    def random(self) -> bool:
        """Whether the seed changes anything."""
        return "seed" in self.keys.values()

    def drawn_with(self, seed: int, *, own: int) -> Self:
        """Name a seed that is not the model's own, unless nothing is random or another one is named."""
        named = self.seed is not None or not self.random or seed == own
        return self if named else self.model_copy(update={"seed": seed})

    @property
    def address(self) -> str:
        """The address."""
        return self.at

    @property
    def acts_on(self) -> str:
        """The layers of the address."""
        return Address.parse(self.at).layers

    def each(self, *, depth: int, heads: int) -> tuple[Self, ...]:
        """One intervention for each layer or head that ``*`` in the address stands for; empty without ``*``."""
        addresses = Address.parse(self.at).each(depth=depth, heads=heads)
        return tuple(self.model_copy(update={"at": str(address)}) for address in addresses)

    def scaled(self, *, written_for: int | None, depth: int) -> Self:
        """Scale the layers of the address in proportion to the depth of an encoder."""
        at = Address.parse(self.at).scaled(written_for=written_for, depth=depth)
        return self.model_copy(update={"at": str(at)})

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Return an encoder whose states are replaced from now on; it shares the model.

        Raises:
            EncoderError: for an address that the encoder does not have.
        """
        from crosslens.encoders.interventions.change import Change
        from crosslens.encoders.states.sites import sites

        sites(encoder, self.at)
        return encoder.changed(Change(self, seed=seed if self.seed is None else self.seed), since=encoder)

    def prepare(self, clean: "CorpusStates", *, seed: int) -> Edit:
        """Prepare the intervention for the windows of a corpus.

        Args:
            clean: the corpus, and its states without interventions.
            seed: random seed, the intervention's own if it names one.
        """
        raise NotImplementedError
