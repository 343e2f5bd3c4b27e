"""Runs: pretraining, adaptation or fine-tuning of one model, or an encoder that is only evaluated.

A run is identified by everything that determines its weights. Names and questions are not part of the identity, so
that studies share runs; `columns` are the names that one study gives to a run.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from crosslens.digests import order_of
from crosslens.encoders.condition import Condition
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.runs.leakage import training_corpus_warnings, training_names
from crosslens.runs.question import CorpusRef, Question
from crosslens.tasks import Task, find_task
from crosslens.training import versions
from crosslens.training.identity import described_condition, run_id, training_identity
from crosslens.training.recipe import Recipe, recipe_columns


@dataclass(frozen=True, slots=True)
class EncoderRef:
    """The encoder that a run starts from.

    Attributes:
        path: path or hub name to load.
        name: name in records.
        digest: digest of the encoder when the run was planned.
        made: True if a run produced it, so that several encoders share the name.
        shared: True if all seeds start from this encoder, so that intervals do not cover the variation of encoders.
        language_specific: True if it has parts for each language, so that ids include the languages of corpora.
    """

    path: str
    name: str
    digest: str
    made: bool = False
    shared: bool = True
    language_specific: bool = False

    def question(self, question: Question) -> Question:
        """A question as it is asked about this encoder, or a model that is trained from it."""
        return question.in_languages() if self.language_specific else question


@dataclass(frozen=True, slots=True)
class Training:
    """Task, data and recipe of a fine-tuning.

    Attributes:
        source: name of the source in the study.
        dev: development corpus; None: not needed.
        selection: checkpoint selection rule; the recipe's, unless the study compares several.
        translated_from: original language of translated training data; None: not translated.
        compared: settings of the recipe in which trainings of the study differ that are otherwise the same.
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
    compared: tuple[str, ...] = ()

    @property
    def value(self) -> Task:
        """The task with its settings."""
        return find_task(self.task, self.recipe.task)

    @property
    def apart(self) -> str:
        """What labels tell it apart by: `compared` settings with their values, and a rule that is not the recipe's."""
        recipe, names = self.recipe, [name for name in self.compared if name != "select"]
        rule = [self.selection] if "select" in self.compared or self.selection != recipe.select else []
        return " ".join([*(f"{name}={getattr(recipe, name)}" for name in names), *rule])

    @property
    def languages(self) -> tuple[str | None, str | None]:
        """Languages of training and development data."""
        return self.language, self.dev.language if self.dev else None

    @property
    def train_names(self) -> set[str]:
        """Name of the training corpus, and of each part that it is joined from."""
        return training_names(self.train.name)

    def warnings(self, tests: Iterable[CorpusRef]) -> Iterator[str]:
        """Warnings of test corpora that are the training corpus, or a part of it."""
        return training_corpus_warnings(tests, train=self.train)


@dataclass(frozen=True)
class _IdentifiedRun:
    """Base class of runs."""

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that determines the weights, as plain values."""
        raise NotImplementedError

    @cached_property
    def id(self) -> str:
        """The first digits of the digest of the identity."""
        return run_id(self.identity)

    @property
    def label(self) -> str:
        """Readable name."""
        raise NotImplementedError

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of its records (see `crosslens.results.record.Record`) in the study that plans it."""
        raise NotImplementedError


@dataclass(frozen=True)
class PretrainRun(_IdentifiedRun):
    """Pretraining of an encoder on text.

    Attributes:
        home: base folder for relative paths in the settings.
        texts: language -> digest of its text.
        condition: the manipulated factor.
        name: name of the encoder in records.
        partner: second language of a bilingual encoder; None: not bilingual.
    """

    settings: Pretraining
    home: str
    texts: dict[str, str]
    condition: Condition
    name: str
    partner: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        settings = self.settings.model_dump(mode="json", exclude={"corpora"}, exclude_defaults=True)
        order = order_of(self.settings.corpora)
        return {"pretraining": settings, "texts": self.texts, "semantics": versions.PRETRAINING, **order}

    @property
    def label(self) -> str:
        """``pretrain en-fr no-anchors seed 1``."""
        return f"pretrain {'-'.join(self.settings.corpora)} {self.condition.label} seed {self.settings.seed}"

    @property
    def columns(self) -> dict[str, Any]:
        return {"run": self.id, "encoder": self.name, "partner": self.partner, **self.condition.columns}


@dataclass(frozen=True)
class AdaptRun(_IdentifiedRun):
    """Adaptation of an encoder to raw text.

    Attributes:
        condition: condition of the adapted encoder in records.
    """

    base: EncoderRef
    settings: Adaptation
    language: str
    text: CorpusRef
    condition: Condition
    partner: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        return {
            "adaptation": self.settings.identity,
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
        return {"run": self.id, "encoder": self.base.name, "partner": self.partner, **self.condition.columns}


@dataclass(frozen=True)
class EncoderRun(_IdentifiedRun):
    """Evaluation of an encoder without fine-tuning.

    Attributes:
        condition: interventions on the encoder.
        seed: random seed for re-initialised parameters.
    """

    base: EncoderRef
    condition: Condition
    seed: int
    partner: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        return {"encoder": self.base.digest, "condition": described_condition(self.condition), "seed": self.seed}

    @property
    def label(self) -> str:
        """``encoder reference seed 1``."""
        return f"encoder{f' with {self.partner}' if self.partner else ''} {self.condition.label} seed {self.seed}"

    @property
    def columns(self) -> dict[str, Any]:
        return _of_encoder(self)


@dataclass(frozen=True)
class ModelRun(_IdentifiedRun):
    """Fine-tuning of a model.

    Attributes:
        condition: interventions before training.
        seed: random seed for re-initialised parameters, task head, data order and dropout.
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
            languages=training.languages if self.base.language_specific else None,
        )

    @property
    def label(self) -> str:
        """``pos en 1-2 seed 3``, ``pos en 1-2 last seed 3``, ``pos en 1-2 epochs=2 seed 3``."""
        training = self.training
        partner = f" with {self.partner}" if self.partner else ""
        apart = f" {training.apart}" if training.apart else ""
        return f"{training.task} {training.source}{partner} {self.condition.label}{apart} seed {self.seed}"

    @property
    def columns(self) -> dict[str, Any]:
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
    """Columns of an encoder; the digest is left out where encoders or checkpoints of the study share the name."""
    return {
        "run": run.id,
        "encoder": run.base.name,
        "partner": run.partner,
        "seed": run.seed,
        "encoder_digest": None if run.base.made or run.condition.checkpoint else run.base.digest,
        **run.condition.columns,
    }


Run = PretrainRun | AdaptRun | EncoderRun | ModelRun


@dataclass(frozen=True, slots=True)
class Asked:
    """A run with the questions that one study asks about it.

    Attributes:
        questions: the questions, without duplicates.
        tuned: settings of the recipe that were searched for this condition. Their values may differ between
            conditions that are compared, so records do not tell models apart by them; of several best settings, the
            scores are averaged.
    """

    run: Run
    questions: tuple[Question, ...] = ()
    tuned: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of the run in the study's records."""
        if not self.tuned or not isinstance(self.run, ModelRun):
            return self.run.columns
        training = self.run.training
        return {**self.run.columns, **recipe_columns(training.recipe, training.value, tuned=self.tuned)}

    @property
    def view(self) -> dict[str, Any]:
        """Columns and questions as plain values, for `plan.json` (see `crosslens.runs.store.Store`)."""
        questions = [[question.id, question.kind] for question in self.questions]
        languages = {question.id: question.language for question in self.questions if question.language}
        view = {"run": self.run.id, "columns": self.columns, "questions": questions, "languages": languages}
        return view | {"tuned": list(self.tuned)} if self.tuned else view
