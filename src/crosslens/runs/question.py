"""Questions about a run, such as a score or a similarity. Each has an id, which the records that answer it carry."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from crosslens.data.corpus import Corpus
from crosslens.digests import digest
from crosslens.encoders.condition import Condition
from crosslens.training import versions
from crosslens.training.identity import DIGITS


@dataclass(frozen=True, slots=True)
class CorpusRef:
    """The name of a corpus, and its digest when the run was planned.

    Attributes:
        name: name in the catalogue.
        digest: digest of the content.
        language: language that was given with a file, which its name leaves out; not part of any id.
        read_as: the same where the encoder reads each language with other parameters; part of ids, so that the answers
            in two languages are told apart. None: another encoder.
    """

    name: str
    digest: str
    language: str | None = field(default=None, compare=False)
    read_as: str | None = None

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """Name a loaded corpus."""
        return cls(corpus.name, corpus.digest, corpus.language)


_LEFT_OUT_IF_NONE = ("limit", "read_as")


def _identifying(values: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a question, or of a `CorpusRef` in it, that determine the answer."""
    return {
        name: value
        for name, value in values
        if name != "language" and not (name in _LEFT_OUT_IF_NONE and value is None)
    }


@dataclass(frozen=True)
class Question:
    """Base class of questions. The id covers everything that determines the answer, including the code version."""

    kind: ClassVar[str]
    version: ClassVar[int]
    owns: ClassVar[frozenset[str]] = frozenset()
    """Record columns that the question fills instead of the run."""

    @cached_property
    def id(self) -> str:
        """The first digits of the question's digest."""
        content = asdict(self, dict_factory=_identifying)
        return digest({"question": self.kind, "version": self.version, **content})[:DIGITS]

    def in_languages(self) -> Self:
        """The same question about an encoder with language-specific parts: its id includes the corpora's languages."""
        corpora = {name: value for name, value in vars(self).items() if isinstance(value, CorpusRef)}
        return replace(self, **{name: replace(ref, read_as=ref.language) for name, ref in corpora.items()})

    @property
    def about(self) -> str:
        """Readable name, for lists of unanswered questions."""
        raise NotImplementedError

    @property
    def language(self) -> str | None:
        """Target language as it is given now: an earlier study may have given the same file another one."""
        return None


@dataclass(frozen=True)
class Score(Question):
    """What score does the model reach on a corpus?

    Attributes:
        corpus: the test corpus.
        settings: settings of the task, which include the scoring rules.
    """

    kind: ClassVar[str] = "score"
    version: ClassVar[int] = versions.SCORING

    corpus: CorpusRef
    settings: Mapping[str, Any]

    @property
    def language(self) -> str | None:
        return self.corpus.language

    @property
    def about(self) -> str:
        return self.corpus.name


@dataclass(frozen=True)
class IntervenedScore(Score):
    """What score does the model reach on a corpus under interventions after training?

    Attributes:
        condition: all interventions, before and after training, as `Condition.text`.
        seed: random seed of the interventions after training.
    """

    kind: ClassVar[str] = "intervened score"
    owns: ClassVar[frozenset[str]] = frozenset(Condition().columns)

    condition: str
    seed: int

    @property
    def about(self) -> str:
        return f"{self.corpus.name} under {Condition.parse(self.condition).label}"


@dataclass(frozen=True)
class SwappedScore(IntervenedScore):
    """What score does the model reach with layers, or changes, of an encoder that another run of the study made?

    Attributes:
        other: id of that run.
    """

    kind: ClassVar[str] = "swapped score"

    other: str


@dataclass(frozen=True)
class FittedScore(IntervenedScore):
    """What score does the model reach under interventions that learn from a corpus?"""

    kind: ClassVar[str] = "fitted score"

    reference: CorpusRef


@dataclass(frozen=True)
class PatchedScore(FittedScore):
    """What score does the model reach with states of translations, which the reference has?

    Attributes:
        translations: digest of the pairs of sentences and the links between their words.
    """

    kind: ClassVar[str] = "patched score"

    translations: str


@dataclass(frozen=True)
class Similarity(Question):
    """How similar are two languages in each layer?

    Attributes:
        digests: digests of the two sides.
        sentences: number of leading sentences to use; None: all.
    """

    kind: ClassVar[str] = "similarity"
    version: ClassVar[int] = versions.SIMILARITY
    owns: ClassVar[frozenset[str]] = frozenset({"source"})

    corpus: str
    source: str
    target: str
    digests: tuple[str, str]
    measure: str
    sentences: int | None

    @property
    def about(self) -> str:
        return f"{self.source}-{self.target} {self.measure} on {self.corpus}"


@dataclass(frozen=True)
class IntervenedSimilarity(Similarity):
    """How similar is a language, whose states are changed in the fine-tuned model, to the unchanged source language?

    Attributes:
        reference: corpus that the interventions learn from; None: they learn from none.
    """

    kind: ClassVar[str] = "intervened similarity"
    owns: ClassVar[frozenset[str]] = Similarity.owns | frozenset(Condition().columns)

    condition: str
    seed: int
    reference: CorpusRef | None

    @property
    def about(self) -> str:
        return f"{super().about} under {Condition.parse(self.condition).label}"


@dataclass(frozen=True)
class ProbeQuestion(Question):
    """How well does a linear probe predict labels from each layer?

    Attributes:
        dev: development corpus for the learning-rate schedule; None: a part of ``train``.
        inputs: scaling of the states.
        seed: random seed for data order and control labels.
    """

    kind: ClassVar[str] = "probe"
    version: ClassVar[int] = versions.PROBING
    owns: ClassVar[frozenset[str]] = frozenset({"seed", "train", "train_digest", "dev", "settings"})

    name: str
    settings: Mapping[str, Any]
    train: CorpusRef
    test: CorpusRef
    dev: CorpusRef | None
    inputs: Literal["scaled", "raw"]
    seed: int

    @property
    def about(self) -> str:
        return f"{self.name} on {self.test.name}"


@dataclass(frozen=True)
class Overlap(Question):
    """What share of a test corpus's subwords occurs in the training data?

    Attributes:
        limit: number of training sentences that models are trained on; None: all.
    """

    kind: ClassVar[str] = "overlap"
    version: ClassVar[int] = versions.OVERLAP
    owns: ClassVar[frozenset[str]] = frozenset({"seed", "source", "train", "train_digest", "settings"})

    train: CorpusRef
    test: CorpusRef
    limit: int | None = None

    @property
    def about(self) -> str:
        return f"subwords of {self.test.name} in {self.train.name}"


@dataclass(frozen=True)
class Perplexity(Question):
    """How well does a pretrained or adapted encoder predict held-out text? Every such run answers this question."""

    kind: ClassVar[str] = "perplexity"
    version: ClassVar[int] = versions.PRETRAINING

    @property
    def about(self) -> str:
        return "perplexity"


_ALL: tuple[type[Question], ...] = (
    Score,
    IntervenedScore,
    SwappedScore,
    FittedScore,
    PatchedScore,
    Similarity,
    IntervenedSimilarity,
    ProbeQuestion,
    Overlap,
    Perplexity,
)
KINDS = {kind.kind: kind for kind in _ALL}
