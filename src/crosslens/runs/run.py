"""A run: what is made or trained once. Each kind is a value with the fields that it needs, and an identity.

The identity is what determines the weights. Names, and what is asked of a run, are no part of it, so that studies that
name the same run share it; `columns` are the names under which one study shows it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crosslens.encoders.condition import Condition
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.runs.question import CorpusRef, Question
from crosslens.tasks import Task, find_task
from crosslens.training import versions
from crosslens.training.identity import described_condition, run_id, training_identity
from crosslens.training.recipe import Recipe, recipe_columns


@dataclass(frozen=True, slots=True)
class EncoderRef:
    """An encoder that a run begins with.

    Attributes:
        path: where it is loaded from.
        name: what records call it.
        digest: of it, as it was when the run was planned.
        made: whether a run made it, so that the name stands for several encoders.
        shared: whether models of all seeds begin with it, so that how such encoders differ is in no interval of theirs.
    """

    path: str
    name: str
    digest: str
    made: bool = False
    shared: bool = True


@dataclass(frozen=True, slots=True)
class Training:
    """What a model is trained on, and how.

    Attributes:
        task: its name.
        settings: all of the task.
        source: the study's name of the source.
        language: of the training data.
        train: the training corpus.
        dev: the development corpus; None: none is needed.
        recipe: how.
        selection: the rule that selects the weights, where the study compares several; else the recipe's.
        translated_from: the language that the training data were translated from; None: from none.
    """

    task: str
    settings: dict[str, Any]
    source: str
    language: str | None
    train: CorpusRef
    dev: CorpusRef | None
    recipe: Recipe
    selection: str
    translated_from: str | None = None

    @property
    def value(self) -> Task:
        """The task with its settings."""
        return find_task(self.task, self.recipe.task)


@dataclass(frozen=True)
class _Known:
    """What all runs have."""

    @property
    def identity(self) -> dict[str, Any]:
        """All that determines the weights, as plain values."""
        raise NotImplementedError

    @cached_property
    def id(self) -> str:
        """The first digits of the identity's digest."""
        return run_id(self.identity)

    @property
    def label(self) -> str:
        """What a person calls it."""
        raise NotImplementedError

    @property
    def columns(self) -> dict[str, Any]:
        """What records say of it in the study that plans it: columns of `crosslens.results.record.Record`."""
        raise NotImplementedError


@dataclass(frozen=True)
class PretrainRun(_Known):
    """Pretrains an encoder from text.

    Attributes:
        settings: how.
        home: where relative paths of the settings start.
        texts: language -> digest of its text.
        condition: the factor.
        name: what records call the encoder.
        partner: the other language of a bilingual encoder; None: it is none.
    """

    settings: Pretraining
    home: str
    texts: dict[str, str]
    condition: Condition
    name: str
    partner: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """Settings and texts."""
        settings = self.settings.model_dump(mode="json", exclude={"corpora"}, exclude_defaults=True)
        return {"pretraining": settings, "texts": self.texts, "semantics": versions.PRETRAINING}

    @property
    def label(self) -> str:
        """``pretrain en-fr no-anchors seed 1``."""
        return f"pretrain {'-'.join(self.settings.corpora)} {self.condition.label} seed {self.settings.seed}"

    @property
    def columns(self) -> dict[str, Any]:
        """The names of the encoder."""
        return {"run": self.id, "encoder": self.name, "partner": self.partner, **self.condition.columns}


@dataclass(frozen=True)
class AdaptRun(_Known):
    """Adapts an encoder to raw text.

    Attributes:
        base: the encoder.
        settings: how.
        language: of the text.
        text: raw text.
        condition: what is noted of the encoder.
        partner: as of `PretrainRun`.
    """

    base: EncoderRef
    settings: Adaptation
    language: str
    text: CorpusRef
    condition: Condition
    partner: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """Settings, encoder and text."""
        settings = self.settings.model_dump(mode="json")
        return {
            "adaptation": settings,
            "encoder": self.base.digest,
            "text": self.text.digest,
            "semantics": versions.ADAPTATION,
        }

    @property
    def label(self) -> str:
        """``adapt to raw/wol adapted seed 1``."""
        return f"adapt to {self.text.name} {self.condition.label} seed {self.settings.seed}"

    @property
    def columns(self) -> dict[str, Any]:
        """The names of the encoder."""
        return {"run": self.id, "encoder": self.base.name, "partner": self.partner, **self.condition.columns}


@dataclass(frozen=True)
class EncoderRun(_Known):
    """An encoder that is not fine-tuned, and only looked at.

    Attributes:
        base: the encoder.
        condition: what is done to it.
        seed: of what is re-initialised.
        partner: as of `PretrainRun`.
    """

    base: EncoderRef
    condition: Condition
    seed: int
    partner: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """Encoder, condition and seed."""
        return {"encoder": self.base.digest, "condition": described_condition(self.condition), "seed": self.seed}

    @property
    def label(self) -> str:
        """``encoder reference seed 1``."""
        return f"encoder{f' with {self.partner}' if self.partner else ''} {self.condition.label} seed {self.seed}"

    @property
    def columns(self) -> dict[str, Any]:
        """The names of the encoder."""
        return _of_encoder(self)


@dataclass(frozen=True)
class ModelRun(_Known):
    """A model that is fine-tuned.

    Attributes:
        base: the encoder.
        condition: what is done to it before training.
        seed: of what is re-initialised, the head, the order and dropout.
        training: on what, and how.
        partner: as of `PretrainRun`.
    """

    base: EncoderRef
    condition: Condition
    seed: int
    training: Training
    partner: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """See `crosslens.training.identity.training_identity`."""
        training = self.training
        return training_identity(
            encoder=self.base.digest,
            condition=self.condition,
            seed=self.seed,
            task=training.value,
            recipe=training.recipe,
            train=training.train.digest,
            dev=training.dev.digest if training.dev else None,
        )

    @property
    def label(self) -> str:
        """``pos en 1-2 seed 3``, ``pos en 1-2 last seed 3``."""
        training = self.training
        what = f"{training.task} {training.source}" + (f" with {self.partner}" if self.partner else "")
        rule = f" {training.selection}" if training.selection != training.recipe.select else ""
        return f"{what} {self.condition.label}{rule} seed {self.seed}"

    @property
    def columns(self) -> dict[str, Any]:
        """The names of encoder, data and recipe."""
        training = self.training
        return {
            **_of_encoder(self),
            "task": training.task,
            "source": training.language,
            "train": training.train.name,
            "train_digest": training.train.digest,
            "dev": training.dev.name if training.dev else None,
            "selection": training.selection,
            "translated_from": training.translated_from,
            **recipe_columns(training.recipe, training.value),
        }


def _of_encoder(run: EncoderRun | ModelRun) -> dict[str, Any]:
    """Columns of the encoder under a condition; one that runs of the study make has no digest of its name."""
    return {
        "run": run.id,
        "encoder": run.base.name,
        "partner": run.partner,
        "seed": run.seed,
        "encoder_digest": None if run.base.made else run.base.digest,
        **run.condition.columns,
    }


Run = PretrainRun | AdaptRun | EncoderRun | ModelRun


@dataclass(frozen=True, slots=True)
class Asked:
    """A run and what is asked of it, under the names of one study.

    Attributes:
        run: the run.
        questions: each once.
    """

    run: Run
    questions: tuple[Question, ...] = ()

    @property
    def view(self) -> dict[str, Any]:
        """How the study shows its records, as plain values that a store keeps: see `crosslens.runs.store.Store`."""
        questions = [[question.id, question.kind] for question in self.questions]
        return {"run": self.run.id, "columns": self.run.columns, "questions": questions}
