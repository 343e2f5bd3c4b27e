"""What is asked of a run: each question is a value with an id, and an answer is the records that carry it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

from crosslens.digests import digest
from crosslens.training import versions
from crosslens.training.identity import DIGITS


@dataclass(frozen=True, slots=True)
class CorpusRef:
    """A corpus by its name, and what was in it when the run was planned.

    Attributes:
        name: as the catalogue knows it.
        digest: of its content.
    """

    name: str
    digest: str


@dataclass(frozen=True)
class Question:
    """What all questions have: an id of all that decides the answer, the version of its rule among it."""

    kind: ClassVar[str]
    version: ClassVar[int]
    owns: ClassVar[frozenset[str]] = frozenset()
    """Columns of its records that are the question's, and not the run's."""

    @cached_property
    def id(self) -> str:
        """The first digits of the digest of the question."""
        return digest({"question": self.kind, "version": self.version, **asdict(self)})[:DIGITS]

    @property
    def about(self) -> str:
        """What a person calls it, in the list of what is missing."""
        raise NotImplementedError


@dataclass(frozen=True)
class Score(Question):
    """How well does the model do on a corpus?

    Attributes:
        corpus: what it is evaluated on.
        settings: of the task, some of which decide how it is scored.
    """

    kind: ClassVar[str] = "score"
    version: ClassVar[int] = versions.SCORING

    corpus: CorpusRef
    settings: Mapping[str, Any]

    @property
    def about(self) -> str:
        """The corpus."""
        return self.corpus.name


@dataclass(frozen=True)
class Similarity(Question):
    """How alike are two languages, layer by layer, by one measure?

    Attributes:
        corpus: name of the parallel sentences.
        source: a language.
        target: another.
        digests: of their sides.
        measure: its name.
        sentences: the first so many; None: all.
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
        """The pair and the measure."""
        return f"{self.source}-{self.target} {self.measure} on {self.corpus}"


@dataclass(frozen=True)
class ProbeQuestion(Question):
    """What can a linear classifier read off every layer?

    Attributes:
        name: the probe's.
        settings: all of the probe.
        train: labelled items.
        test: others.
        dev: on which its learning rate is lowered; None: a part of ``train``.
        inputs: how states are scaled.
        seed: of the order and the control.
    """

    kind: ClassVar[str] = "probe"
    version: ClassVar[int] = versions.PROBING
    owns: ClassVar[frozenset[str]] = frozenset({"seed", "train", "train_digest", "dev", "settings"})

    name: str
    settings: Mapping[str, Any]
    train: CorpusRef
    test: CorpusRef
    dev: CorpusRef | None
    inputs: str
    seed: int

    @property
    def about(self) -> str:
        """The probe and its corpus."""
        return f"{self.name} on {self.test.name}"


@dataclass(frozen=True)
class Overlap(Question):
    """Which share of a corpus's subwords does training data have?

    Attributes:
        train: the training data.
        test: the corpus.
    """

    kind: ClassVar[str] = "overlap"
    version: ClassVar[int] = versions.OVERLAP
    owns: ClassVar[frozenset[str]] = frozenset({"seed", "source", "train", "train_digest"})

    train: CorpusRef
    test: CorpusRef

    @property
    def about(self) -> str:
        """Both corpora."""
        return f"subwords of {self.test.name} in {self.train.name}"


@dataclass(frozen=True)
class Perplexity(Question):
    """How well does an encoder that a run makes predict held-out text? Asked of every such run."""

    kind: ClassVar[str] = "perplexity"
    version: ClassVar[int] = versions.PRETRAINING

    @property
    def about(self) -> str:
        """It needs no corpus of its own."""
        return "perplexity"


_ALL: tuple[type[Question], ...] = (Score, Similarity, ProbeQuestion, Overlap, Perplexity)
KINDS = {kind.kind: kind for kind in _ALL}
