"""Study files: the models to train, their data, and the analyses to run."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from crosslens.corpora.catalogue import name_split
from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.checkpoints import Checkpoint
from crosslens.encoders.interventions.intervention import Intervention
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.start import ADAPTED
from crosslens.encoders.interventions.swap import FromOther
from crosslens.encoders.options import Precision
from crosslens.encoders.states.erase import Erase
from crosslens.encoders.states.patch import Patch
from crosslens.errors import DataError, RequestError, suggest
from crosslens.mlm.factors import find_factor
from crosslens.probes import PROBES
from crosslens.settings import Count, InvalidSettings, Problem, Seed, Strict, read_settings, unknown_setting
from crosslens.tasks import TASKS, find_task
from crosslens.training.recipe import BILSTM, DEFAULT, DEFAULT_RECIPE, Recipe, find_recipe, known_settings


class Source(Strict):
    """A source language or domain that models are trained on.

    Attributes:
        train: its training corpus.
        dev: development corpus; None: the dev split of the same treebank.
        tests: corpora that its models are evaluated on; ``ud/*_pud`` is every available PUD treebank.
        translated_from: original language of translated training data (translate-train); None: not translated.
        text: raw text for adapting or pretraining encoders, usually in the language of the tests; None: none.
    """

    train: str
    dev: str | None = None
    tests: Annotated[tuple[str, ...], Field(min_length=1)]
    translated_from: str | None = None
    text: str | None = None

    @property
    def dev_corpus(self) -> str:
        """Name of the development corpus.

        Raises:
            DataError: if there is none, and ``train`` is a file, which has no other splits.
        """
        try:
            return self.dev or name_split(self.train, "dev")
        except DataError as error:
            raise DataError(error.message, hint="name it in the study: `dev: FILE`") from None


class Data(Strict):
    """The corpora of a study.

    Attributes:
        parallel: parallel corpus on which representations are compared.
        recipe: name of the default recipe for these corpora.
        release: release of Universal Dependencies that the paper used, or task -> release; errors of missing treebanks
            name it. Any release is read. None: no certain one.
        tasks: task -> source -> its corpora.
    """

    parallel: str | None = None
    recipe: str = DEFAULT_RECIPE
    release: str | Mapping[str, str] | None = None
    tasks: Mapping[str, Mapping[str, Source]] = {}

    @field_validator("tasks")
    @classmethod
    def _known(cls, tasks: Mapping[str, Mapping[str, Source]]) -> Mapping[str, Mapping[str, Source]]:
        wrong = [task for task in tasks if task not in TASKS]
        if wrong:
            raise InvalidSettings(
                [Problem((task,), f"there is no task {task!r} ({suggest(task, TASKS)})") for task in wrong]
            )
        return tasks

    def releases(self, task: str | None) -> tuple[str, ...]:
        """Releases of Universal Dependencies of a task's corpora, or of all; empty for no certain one.

        >>> data = Data(release={"pos": "1.4", "parsing": "2.2"})
        >>> data.releases("pos"), data.releases(None), Data().releases("pos")
        (('1.4',), ('1.4', '2.2'), ())
        """
        if isinstance(self.release, Mapping):
            return tuple(release for name, release in self.release.items() if task in (None, name))
        return (self.release,) if self.release else ()


class Grid(Strict):
    """A hyperparameter search on the source's dev data.

    Attributes:
        each: ``condition``: search separately for every condition (Muller et al. 2021, appendix A.1.1);
            ``task``: use the best recipe of the reference for all conditions but a BiLSTM, which has its own recipe.
        best: number of best settings that models are trained with. Their scores are averaged; Conneau, Wu et al. (2020,
            section 3.2) report the average of two.
        seed: random seed of the search runs.
        batch: batch sizes to try; None: the recipe's.
        learning_rate: peak learning rates to try; None: the recipe's.
        head_learning_rate: peak learning rates of the task head to try; None: the recipe's.
        epochs: numbers of epochs to try; None: the recipe's.
    """

    each: Literal["condition", "task"] = "task"
    best: Count = 1
    seed: Seed = 1
    batch: Annotated[tuple[int, ...], Field(min_length=1)] | None = None
    learning_rate: Annotated[tuple[float, ...], Field(min_length=1)] | None = None
    head_learning_rate: Annotated[tuple[float, ...], Field(min_length=1)] | None = None
    epochs: Annotated[tuple[int, ...], Field(min_length=1)] | None = None

    @property
    def axes(self) -> dict[str, tuple]:
        """Map each searched setting to its values."""
        axes = {name: getattr(self, name) for name in ("batch", "learning_rate", "head_learning_rate", "epochs")}
        return {name: values for name, values in axes.items() if values is not None}

    @property
    def tuned(self) -> tuple[str, ...]:
        """Settings whose values may differ between the models of a study."""
        return tuple(self.axes) if self.each == "condition" or self.best > 1 else ()

    @model_validator(mode="after")
    def _enough(self) -> "Grid":
        problems = [
            Problem((name,), f"has duplicates: {', '.join(map(str, repeated))}")
            for name, values in self.axes.items()
            if (repeated := _repeated(values))
        ]
        if problems:
            raise InvalidSettings(problems)
        tried = math.prod(map(len, self.axes.values()))
        if self.best > tried:
            raise ValueError(f"the best {self.best} of {tried} settings cannot be chosen; list more values")
        return self


class Selection(Strict):
    """Which weights of a training run are kept.

    In a file ``best``, ``last`` and ``average`` are short for ``{rule: best}`` and so on, and
    ``{oracle: ud/fr_gsd:dev}`` is the best epoch on dev data of a target language. Zero-shot transfer has no such
    data. The oracle measures what selection on source dev data loses, and is labelled as an oracle in all outputs.

    Attributes:
        rule: as the recipe's ``select``.
        oracle: corpus for selecting the ``best`` epoch; None: the source's dev data.
    """

    rule: Literal["best", "last", "average"] = "best"
    oracle: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"rule": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one(self) -> "Selection":
        if self.oracle and self.rule != "best":
            raise ValueError(f"an oracle needs the rule best, not {self.rule}")
        return self

    @property
    def label(self) -> str:
        """``last``, ``oracle ud/fr_gsd:dev``."""
        return f"oracle {self.oracle}" if self.oracle else self.rule


MOST_SEEDS = 1000
"""Seeds that `seeds: NUMBER` may ask for; larger numbers are meant as one seed."""

PRETRAIN = "pretrain:"
"""Prefix of the encoder name if the study pretrains its own encoders."""

State = Literal["pretrained", "untrained", "fine-tuned", "changed"]


class Similarity(Strict):
    """Similarity of the study's encoders on parallel sentences.

    Attributes:
        of: ``pretrained``, ``untrained`` (everything re-initialised with each seed), ``fine-tuned`` (each model after
            its training), ``changed`` (each model whose states an intervention changes: the source language's states
            are unchanged).
        measures: names of measures; None: the default ones and their baselines.
        sentences: number of sentences, from the first; None: all.
    """

    of: tuple[State, ...] = ("pretrained", "untrained")
    measures: tuple[str, ...] | None = None
    sentences: Annotated[int, Field(ge=4)] | None = None

    @field_validator("measures")
    @classmethod
    def _known(cls, measures: tuple[str, ...] | None) -> tuple[str, ...] | None:
        from crosslens.similarity.measures import find_measure  # scipy takes a second to be imported

        wrong: list[Problem] = []
        for index, measure in enumerate(measures or ()):
            try:
                find_measure(measure)
            except RequestError as error:
                wrong.append(Problem((index,), str(error)))
        if wrong:
            raise InvalidSettings(wrong)
        return measures


class Probing(Strict):
    """A probe for every layer of the study's encoders.

    Attributes:
        probe: name of the probe.
        train: training corpus.
        test: test corpus.
        dev: development corpus for the learning-rate schedule; None: a tenth of ``train``.
        of: ``pretrained``, ``untrained`` (everything re-initialised with each seed).
        inputs: states ``scaled`` to variance 1, or ``raw``.
        set: settings of the probe.
        seed: random seed of data order and control task; for encoders that the study pretrains, their own seed.
    """

    probe: str
    train: str
    test: str
    dev: str | None = None
    of: tuple[Literal["pretrained", "untrained"], ...] = ("pretrained",)
    inputs: Literal["scaled", "raw"] = "scaled"
    set: Mapping[str, Any] = {}
    seed: Seed = 1

    @model_validator(mode="after")
    def _known(self) -> "Probing":
        if self.probe not in PROBES:
            reason = f"there is no probe {self.probe!r} ({suggest(self.probe, PROBES)})"
            raise InvalidSettings([Problem(("probe",), reason)])
        return self


def _not_together(condition: Condition) -> str | None:
    """Why a study cannot combine the interventions of a condition: each would need a corpus of its own."""
    reading = [part for part in condition.interventions if part.reads_corpus]
    if condition.other is not None and reading:
        return "swap and add cannot be combined with interventions that read a corpus"
    if len(reading) > 1 and any(isinstance(part, Patch) for part in reading):
        return "patch cannot be combined with another intervention that reads a corpus"
    return None


def _reads_elsewhere(part: Intervention) -> str | None:
    """Why an intervention needs more than the study has; None if it does not."""
    if isinstance(part, FromOther) and (part.other != ADAPTED or part.other_digest):
        kind = part.kind
        return f"in a study, {kind} reads the encoder adapted to the source's text; write {kind}_from: adapted"
    if isinstance(part, Erase) and (part.corpus or part.digest):
        return "in a study, erase moves states to the mean of the training corpus; leave out erase_to"
    if isinstance(part, Patch) and (part.corpus or part.digest):
        return "in a study, patch takes translations from the parallel test corpus of the source; leave out patch_from"
    return None


class Study(Strict):
    """Models, data and analyses of a study. Its runs are all combinations of these settings.

    Attributes:
        name: name of the study, in lower-case letters, digits and hyphens.
        about: the question it answers, in one sentence.
        encoder: a hub name, a folder, or ``lab:PRESET`` for an encoder pretrained on that laboratory. Or
            ``pretrain:SETTINGS``: encoders are pretrained as runs of the study, by a file of settings, settings that
            are shipped, or ``lab:PRESET``.
        bilingual: second languages of bilingual encoders, each pretrained on the first language of the settings and one
            of these; None: one encoder for all languages.
        pretrained: ``each``: pretrain an encoder for each seed; ``one``: share the encoder of the settings' seed.
        starts: the same for adapted encoders and encoders pretrained from scratch. With ``one``, intervals and tests do
            not include the variation between such encoders.
        adaptation: settings of adaptation, for conditions with ``start: adapted``.
        scratch: settings of pretraining, for conditions with ``start: scratch``.
        factors: name -> dotted setting of the pretraining -> its value, in addition to the built-in factors.
        checkpoints: steps of pretraining at which every condition is studied: a list of steps that the encoder's folder
            or this study's pretraining keeps, or of revisions on the hub whose names hold the step (``step1000``);
            ``all``: all steps that were or will be kept; None: the last weights alone.
        data: the corpora, or the name of a set of them: ``lab``, ``lab:PRESET``, one that is shipped, or one source
            of it: ``muller2021:en``. Not needed by a study that only compares or probes encoders.
        tasks: names of tasks; None: all tasks of the data.
        sources: names of sources; None: all sources of the data.
        conditions: interventions on the encoder.
        depth: encoder depth for which the layers of the conditions are written; scaled for other depths.
        seeds: random seeds, one run each.
        recipe: name of a recipe; None: the data's.
        set: overrides of recipe or task settings.
        precision: number format of every forward pass of training, scoring, comparing and probing; a condition can have
            its own.
        select: rules for selecting weights, one run each; None: the recipe's.
        grid: hyperparameter search, always on the source's dev data; None: no search.
        similarity: comparisons of representations; None: none.
        probes: probes for every layer.
        overlap: whether to measure the subword overlap of each test corpus with the source's training data.
        keep: ``models``: also save the fine-tuned weights.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    about: str = ""
    encoder: str
    bilingual: tuple[str, ...] | None = None
    pretrained: Literal["each", "one"] = "each"
    starts: Literal["each", "one"] = "each"
    adaptation: Mapping[str, Any] = {}
    scratch: Mapping[str, Any] = {}
    factors: Mapping[str, Mapping[str, Any]] = {}
    checkpoints: Annotated[tuple[Checkpoint, ...], Field(min_length=1)] | Literal["all"] | None = None
    data: Data | str = Data()
    tasks: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    conditions: tuple[Condition, ...] = (Condition(),)
    depth: Count | None = None
    seeds: tuple[Seed, ...] = (1, 2, 3, 4, 5)
    recipe: str | None = None
    set: Mapping[str, Any] = {}
    precision: Precision = "float32"
    select: tuple[Selection, ...] | None = None
    grid: Grid | None = None
    similarity: Similarity | None = None
    probes: tuple[Probing, ...] = ()
    overlap: bool = False
    keep: tuple[Literal["models"], ...] = ()

    @field_validator("conditions")
    @classmethod
    def _of_this_study_alone(cls, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        refused = [
            Problem((number,), reason)
            for number, condition in enumerate(conditions)
            for part in condition.interventions
            if (reason := _reads_elsewhere(part)) is not None
        ]
        refused += [
            Problem((number,), reason)
            for number, condition in enumerate(conditions)
            if (reason := _not_together(condition)) is not None
        ]
        if refused:
            raise InvalidSettings(refused)
        return conditions

    @property
    def pretrains(self) -> bool:
        """Whether the study pretrains its own encoders."""
        return self.encoder.startswith(PRETRAIN)

    def recipe_of(self, task: str, condition: Condition, *, default: str) -> Recipe:
        """Return the recipe of a task under a condition, with the study's settings.

        Args:
            condition: a condition, which may have a recipe of its own, but is trained on as many sentences.
            default: name of the data's recipe.
        """
        usual = find_recipe(self.recipe or default, task, self.set)
        own = condition.recipe or (BILSTM if condition.start == BILSTM else None)
        return usual if own is None else find_recipe(own, task, {"limit": usual.limit, **self.set})

    def computed(self, condition: Condition) -> Condition:
        """Return a condition in the study's precision, unless it has its own."""
        if self.precision == "float32" or condition.find(InPrecision) is not None:
            return condition
        return Condition.of((*condition.interventions, InPrecision(precision=self.precision)), condition.recipe)

    def reads_dev(self, recipe: Recipe) -> bool:
        """Whether training with a recipe reads the source's dev data, under any rule of `select`."""
        rules = self.select or (Selection(rule=recipe.select),)
        selects = any(rule.rule == "best" and rule.oracle is None for rule in rules)
        return selects or recipe.schedule == "plateau" or self.grid is not None

    @model_validator(mode="before")
    @classmethod
    def _one_precision(cls, value: Any) -> Any:
        """Refuse two precisions for one run, before a default that is spelt out looks like no setting."""
        if not isinstance(value, Mapping):
            return value
        conditions = value.get("conditions")
        written = {
            ("conditions", place, "precision"): _precision(condition)
            for place, condition in enumerate(conditions if isinstance(conditions, (list, tuple)) else ())
        }
        wrong = []
        if isinstance(value.get("set"), Mapping) and "precision" in value["set"]:
            reason = "the precision is given here and in set; leave it out of set"
            given = {("precision",): value.get("precision"), **written}
            wrong = [Problem(place, reason) for place, precision in given.items() if precision is not None]
        elif value.get("precision") == "bfloat16":
            reason = "the study computes in bfloat16; give bfloat16 to the conditions that need it instead"
            wrong = [Problem(place, reason) for place, precision in written.items() if precision == "float32"]
        if wrong:
            raise InvalidSettings(wrong)
        return value

    @field_validator("checkpoints", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        return [{"name": name} if isinstance(name, (str, int)) else name for name in value]

    @field_validator("seeds", mode="before")
    @classmethod
    def _one_seed(cls, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, list, tuple)):
            raise ValueError("expected the number of seeds, or a list of seeds")
        if not isinstance(value, int):
            return value
        if value < 1:
            raise ValueError("expected at least one seed, or a list of seeds")
        if value > MOST_SEEDS:  # before they are listed
            raise ValueError(f"more than {MOST_SEEDS} seeds; `seeds: [{value}]` is the one seed {value}")
        return tuple(range(1, value + 1))  # `seeds: 3` is 1, 2 and 3

    @field_validator("select", mode="before")
    @classmethod
    def _one_rule(cls, value: Any) -> Any:
        return (value,) if isinstance(value, (str, Mapping)) else value

    def _wrong_settings(self) -> list[Problem]:
        """Find settings in `set` that one of the tasks lacks (all of them, if the data names the tasks), and values."""
        known = [known_settings(find_task(task)) for task in self.tasks or TASKS if task in TASKS]
        shared = {
            name for names in known for name in names if self.tasks is None or all(name in each for each in known)
        }
        problems = [unknown_setting("set", name, known=shared) for name in self.set if known and name not in shared]
        for task in self.tasks or () if not problems else ():
            if task in TASKS:
                try:
                    find_recipe(DEFAULT, task, self.set)
                except RequestError as error:
                    problems.append(Problem(("set",), str(error)))
        return problems

    @model_validator(mode="after")
    def _known(self) -> "Study":
        wrong: list[Problem] = []
        for index, task in enumerate(self.tasks or ()):
            if task not in TASKS:
                wrong.append(Problem(("tasks", index), f"there is no task {task!r} ({suggest(task, TASKS)})"))
            elif self.recipe is not None:
                try:
                    find_recipe(self.recipe, task)
                except RequestError as error:
                    wrong.append(Problem(("recipe",), str(error)))
        wrong += self._wrong_settings()
        for what in ("tasks", "sources", "conditions", "seeds", "select", "bilingual", "checkpoints"):
            values = getattr(self, what)
            if values is not None and not values:
                wrong.append(Problem((what,), "is empty"))
            if values not in (None, "all") and (repeated := _repeated(values)):
                wrong.append(Problem((what,), f"has duplicates: {', '.join(map(_shown, repeated))}"))
        labels = [condition.label for condition in dict.fromkeys(self.conditions)]
        if repeated := _repeated(labels):  # e.g. a factor that is called like a set of layers
            wrong.append(Problem(("conditions",), f"different conditions have the same name: {', '.join(repeated)}"))
        for index, condition in enumerate(self.conditions):
            try:
                if condition.factor is not None:
                    find_factor(condition.factor, self.factors)
                    if not self.pretrains:
                        raise RequestError(
                            f"the factor {condition.factor!r} needs a pretraining study (encoder: pretrain:SETTINGS)"
                        )
                if self.depth is not None:
                    condition.each(written_for=None, depth=self.depth, heads=1)
            except RequestError as error:
                wrong.append(Problem(("conditions", index), str(error)))
        if self.bilingual is not None and not self.pretrains:
            reason = "needs a pretraining study (encoder: pretrain:SETTINGS)"
            wrong.append(Problem(("bilingual",), reason))
        if wrong:
            raise InvalidSettings(wrong)
        return self


def _precision(condition: Any) -> str | None:
    """The precision of a condition as it is written in a study, or read already; None: it has none of its own."""
    if isinstance(condition, list):
        return next(filter(None, map(_precision, condition)), None)
    if isinstance(condition, Condition):
        return condition.precision if condition.find(InPrecision) is not None else None
    return condition.get("precision") if isinstance(condition, Mapping) else None


def _repeated(values: Iterable[Any]) -> list[Any]:
    """The values that occur more than once."""
    return [value for value, times in Counter(values).items() if times > 1]


def _shown(value: Any) -> str:
    return value.label if isinstance(value, Condition | Selection | Checkpoint) else str(value)


def read_study(name_or_path: str | Path, *, overrides: Mapping[str, Any] | None = None) -> Study:
    """Read a study from a file or from the library.

    Args:
        name_or_path: a ``.yaml`` file, or a name from `library`.
        overrides: dotted setting -> value, such as ``{"encoder": "lab:good", "seeds": [1, 2]}``; strings are read as
            YAML.

    Returns:
        The study, validated.

    Raises:
        RequestError: if the study does not exist or is not a name or path, or with every invalid setting and its line.

    Examples:
        >>> study = xl.read_study("smoke")
        >>> study.name, study.seeds
        ('smoke', (1,))
    """
    if not isinstance(name_or_path, str | Path):
        raise RequestError(
            f"a study has a name or a file, not a {type(name_or_path).__name__}",
            hint="xl.Study(**settings) makes one of settings" if isinstance(name_or_path, Mapping) else None,
        )
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        shipped = library()
        if str(name_or_path) not in shipped:
            beside = next((f for ending in (".yaml", ".yml") if (f := Path(f"{path}{ending}")).is_file()), None)
            hint = f"did you mean {beside}?" if beside else f"a file ends in .yaml; {suggest(str(path), shipped)}"
            raise RequestError(f"there is no study {str(name_or_path)!r}", hint=hint)
        path = shipped[str(name_or_path)]
    return read_settings(path, Study, overrides=overrides)


def library() -> dict[str, Path]:
    """Map the names of the shipped studies to their files."""
    return _shipped("library")


def data_sets() -> dict[str, Path]:
    """Map the names of the shipped sets of corpora to their files."""
    return _shipped("data")


def pretrainings() -> dict[str, Path]:
    """Map the names of the shipped pretraining settings to their files."""
    return _shipped("pretraining")


def _shipped(folder: str) -> dict[str, Path]:
    files = Path(str(resources.files("crosslens.studies") / folder)).glob("*.yaml")
    return {file.stem: file for file in sorted(files, key=lambda file: file.stem)}
