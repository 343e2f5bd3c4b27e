"""A run: one encoder, changed and trained or not, and all that is asked of it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from crosslens.identity import digest
from crosslens.studies.condition import Condition
from crosslens.training import semantics
from crosslens.training.adaptation import Adaptation
from crosslens.training.pretraining import Pretraining
from crosslens.training.recipe import Recipe

LATER = {"tags": "off", "tag_size": 100, "words": "all"}
"""Settings of tasks that came later than others, with the value that leaves everything as it was."""

NEVER = object()


@dataclass(frozen=True, slots=True)
class Named:
    """A corpus by its name, and what was in it when the study was planned.

    Attributes:
        name: as the catalogue knows it.
        digest: of its content.
    """

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Training:
    """What a run is trained on, and how.

    Attributes:
        task: its name.
        settings: all of the task.
        source: the study's name of the source.
        train: the training corpus.
        dev: the development corpus; None: none is needed.
        recipe: how.
        selection: the rule that selects its weights, where the study compares several.
        translated_from: the language that the training data were translated from; None: from none.
    """

    task: str
    settings: dict[str, Any]
    source: str
    train: Named
    dev: Named | None
    recipe: Recipe
    selection: str | None = None
    translated_from: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of representations that is asked of a run.

    Attributes:
        corpus: parallel sentences.
        pairs: of languages, ``en-fr``.
        measures: their names.
        digests: language -> digest of its side.
        sentences: the first so many; None: all.
    """

    corpus: str
    pairs: tuple[str, ...]
    measures: tuple[str, ...]
    digests: dict[str, str]
    sentences: int | None


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe that is asked of a run's encoder.

    Attributes:
        name: the probe's.
        settings: all of the probe.
        train: labelled texts.
        test: others.
        dev: on which its learning rate is lowered; None: a part of ``train``.
        inputs: how states are scaled.
        seed: of the order and the control.
    """

    name: str
    settings: dict[str, Any]
    train: Named
    test: Named
    dev: Named | None
    inputs: str
    seed: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """The subwords that corpora share with training data, counted by a run's encoder.

    Attributes:
        train: the training data.
        tests: the corpora.
    """

    train: Named
    tests: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Pretrained:
    """An encoder that a run makes from text.

    Attributes:
        settings: how.
        base: where its relative paths start.
        texts: language -> digest of its text.
    """

    settings: Pretraining
    base: str
    texts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Adapted:
    """An encoder that a run makes of another one.

    Attributes:
        settings: how.
        language: of the text.
        text: raw text.
    """

    settings: Adaptation
    language: str
    text: Named


@dataclass(frozen=True)
class Run:
    """One trained model, or an untrained one, and what is asked of it.

    What determines the weights is its identity; what is asked is not, so that two studies share a run.

    Attributes:
        encoder: where the encoder is loaded from.
        called: what records call the encoder.
        encoder_digest: of its weights and vocabulary.
        condition: what is done to it before training.
        seed: of the layers drawn anew, the head, the order and dropout.
        training: None: it is only looked at.
        tests: corpora that it is evaluated on.
        comparison: asked of it; None: none.
        probes: asked of it.
        overlaps: asked of it.
        pretrained: what it pretrains, and then nothing else; None: nothing.
        beside: the other language of a bilingual encoder; None: it is none.
        adapted: how it adapts the encoder, and then nothing else; None: it does not.
    """

    encoder: str
    called: str
    encoder_digest: str
    condition: Condition
    seed: int
    training: Training | None
    tests: tuple[Named, ...] = ()
    comparison: Comparison | None = field(default=None)
    probes: tuple[Probe, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    pretrained: Pretrained | None = None
    beside: str | None = None
    adapted: Adapted | None = None

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that determines the weights, as plain values; the semantics' version is raised when they change."""
        if self.pretrained is not None:
            settings = self.pretrained.settings.model_dump(mode="json", exclude={"corpora"})
            return {"pretraining": settings, "texts": self.pretrained.texts, "semantics": semantics.PRETRAINING}
        if self.adapted is not None:
            settings = self.adapted.settings.model_dump(mode="json")
            return {"adaptation": settings, "encoder": self.encoder_digest, "text": self.adapted.text.digest,
                    "semantics": semantics.ADAPTATION}  # fmt: skip
        its: dict[str, Any] = {
            "encoder": self.encoder_digest, "seed": self.seed,
            "condition": self.condition.model_dump(mode="json", exclude={"recipe"}),
        }  # fmt: skip
        if self.training is not None:
            t = self.training
            recipe = t.recipe.model_dump(mode="json", exclude={"task", "name"})
            its |= {
                "task": t.task, "settings": t.settings, "recipe": recipe, "train": t.train.digest,
                "dev": t.dev.digest if t.dev else None,
                "semantics": semantics.FINE_TUNING_FROZEN if self.condition.frozen else semantics.FINE_TUNING,
            }  # fmt: skip
        return its

    @cached_property
    def id(self) -> str:
        """The first 16 hexadecimal digits of the identity's sha256.

        Settings that have their usual value are left out of it, so that a setting added later, with the usual value
        that leaves everything as it was, leaves the ids as they were too.
        """
        usual = {"condition": Condition(), "recipe": Recipe()}
        whole = dict(self.identity)
        if "settings" in whole:
            its = whole["settings"]
            whole["settings"] = {key: value for key, value in its.items() if LATER.get(key, NEVER) != value}
        said = {
            name: {key: its for key, its in value.items() if its != usual[name].model_dump(mode="json")[key]}
            if name in usual else value
            for name, value in whole.items()
        }  # fmt: skip
        return digest(said)[:16]

    @property
    def label(self) -> str:
        """What a person calls it: ``pos en 1-2 seed 3``, ``pos en 1-2 last seed 3``."""
        if self.pretrained is not None:
            languages = "-".join(self.pretrained.settings.corpora)
            return f"pretrain {languages} {self.condition.label} seed {self.pretrained.settings.seed}"
        if self.adapted is not None:
            return f"adapt to {self.adapted.text.name} {self.condition.label} seed {self.adapted.settings.seed}"
        asked = [("similarity", self.comparison), ("probes", self.probes), ("overlap", self.overlaps)]
        looked = ", ".join(name for name, its in asked if its) or "similarity"
        what = f"{self.training.task} {self.training.source}" if self.training else looked
        what += f" with {self.beside}" if self.beside else ""
        rule = f" {self.training.selection}" if self.training and self.training.selection else ""
        return f"{what} {self.condition.label}{rule} seed {self.seed}"
