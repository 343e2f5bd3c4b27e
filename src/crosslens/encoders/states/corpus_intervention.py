"""The base class of interventions on states that use the states of another corpus."""

from typing import TYPE_CHECKING, ClassVar

from crosslens.encoders.states.state_intervention import StateIntervention
from crosslens.errors import RequestError

if TYPE_CHECKING:
    from crosslens.data.corpus import Corpus
    from crosslens.encoders.encoder import Encoder
    from crosslens.encoders.interventions.change import Fitted
    from crosslens.encoders.states.corpus_states import CorpusStates


class CorpusIntervention(StateIntervention):
    """Replace states by means of those of another corpus, in the source language.

    Attributes:
        corpus: name of the corpus; None: in a study chosen by the plan, in Python the argument ``reference`` of
            `crosslens.intervene`.
        digest: first digits of its digest. It is recorded, as is the name, when the intervention is fitted.
        most: most sentences of the corpus that are read, spread evenly over it; None: all.
        parallel: whether the corpus must be parallel to each evaluated one.
    """

    reads_corpus = True
    most: ClassVar[int | None] = None
    parallel: ClassVar[bool] = False

    corpus: str | None = None
    digest: str | None = None

    def apply(self, encoder: "Encoder", *, seed: int) -> "Encoder":
        """Refused: the corpus is not known here."""
        raise RequestError(
            f"{self.label} needs a corpus of the source language",
            hint=f"write {self.kind}=CORPUS, or pass reference= to crosslens.intervene",
        )

    def source(self, encoder: "Encoder", corpus: "Corpus") -> "CorpusStates":
        """Return the states of the corpus without interventions, for `fit`; several interventions may share them."""
        from crosslens.encoders.inputs import read_windows
        from crosslens.encoders.states.corpus_states import CorpusStates

        own = encoder.unedited.for_language(corpus.language)
        return CorpusStates(own, read_windows(own, corpus.limited(self.most)).windows, corpus)

    def fit(self, encoder: "Encoder", source: "CorpusStates", *, seed: int) -> "Encoder":
        """Return an encoder whose states are replaced from now on; it shares the model.

        Raises:
            EncoderError: for an address that the encoder does not have.
        """
        from crosslens.encoders.interventions.change import Change

        corpus, recorded = source.corpus, self
        if corpus is not None:
            recorded = self.model_copy(update={"corpus": self.corpus or corpus.name, "digest": corpus.digest[:12]})
        drawn = seed if self.seed is None else self.seed
        return encoder.changed(Change(recorded, seed=drawn, fitted=recorded.fitted(source)), since=encoder)

    def fitted(self, source: "CorpusStates") -> "Fitted":
        """Return the intervention with what it needs of the corpus.

        Raises:
            EncoderError: for an address that the encoder does not have.
        """
        raise NotImplementedError
