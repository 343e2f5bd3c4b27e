"""States of a corpus without interventions, computed once for all interventions that use them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from crosslens.data.corpus import trained_languages
from crosslens.errors import RequestError

if TYPE_CHECKING:
    from torch import Tensor

    from crosslens.data.corpus import Corpus
    from crosslens.data.windows import Window
    from crosslens.encoders.batch import Batch
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.states.sites import Site
    from crosslens.encoders.states.state_intervention import StateIntervention


class CorpusStates:
    """States of a corpus without interventions.

    Interventions first ask for places. Nothing is computed before states are used, so that one forward pass gives the
    states of all places that were asked for. Only one batch is held in memory.

    Attributes:
        encoder: encoder without interventions on states, for the language of the corpus.
        corpus: the corpus; None: unknown.
    """

    def __init__(self, encoder: "Encoder", windows: "Sequence[Window]", corpus: "Corpus | None" = None) -> None:
        self.encoder, self.windows, self.corpus = encoder, windows, corpus
        self._averaged: dict[str, Site] = {}
        self._means: dict[str, Tensor] = {}
        self._places: dict[str, Site] = {}
        self._last: tuple[Sequence[Window], Batch, Mapping[str, Tensor]] | None = None

    def require_one_language(self, intervention: "StateIntervention") -> None:
        """Check that what an intervention takes from the corpus is of one language.

        Raises:
            RequestError: for a corpus that is joined from several languages.
        """
        if self.corpus is not None and len(trained_languages(self.corpus.language)) > 1:
            raise RequestError(
                f"{intervention.label} acts on one language, but {self.corpus.name} has {self.corpus.language}",
                hint="evaluate the corpus of each language by itself",
            )

    def means(self, places: "Sequence[Site]") -> "Callable[[], dict[str, Tensor]]":
        """Ask for the mean states of the windows.

        Returns:
            Function that returns name of the place -> ``(3, columns)``, see `place_means`.
        """
        self._averaged |= {site.name: site for site in places}

        def computed() -> "dict[str, Tensor]":
            from crosslens.encoders.states.mean import place_means

            missing = [site for name, site in self._averaged.items() if name not in self._means]
            if missing:
                self._means |= place_means(self.encoder, missing, self.windows)
            return {site.name: self._means[site.name] for site in places}

        return computed

    def at(self, places: "Sequence[Site]") -> "Callable[[Sequence[Window]], tuple[Batch, Mapping[str, Tensor]]]":
        """Ask for the states of single windows.

        Returns:
            Function from windows to their batch, and name of the place -> states ``(windows, length, columns)``.
        """
        self._places |= {site.name: site for site in places}

        def computed(windows: "Sequence[Window]") -> "tuple[Batch, Mapping[str, Tensor]]":
            from crosslens.encoders.batch import make_batch
            from crosslens.encoders.states.sites import states_at

            if (
                self._last is None
                or list(map(id, self._last[0])) != list(map(id, windows))
                or len(self._last[2]) < len(self._places)
            ):
                self._last = None  # frees the last batch
                batch = make_batch(windows, padding=self.encoder.padding, device=self.encoder.device)
                sites = list(self._places.values())
                states = states_at(self.encoder, sites, batch)
                self._last = windows, batch, dict(zip(self._places, states, strict=True))
            return self._last[1], self._last[2]

        return computed
