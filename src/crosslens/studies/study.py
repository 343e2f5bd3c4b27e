"""A study: which models are trained, on what, and what is asked of them, as one file."""

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from crosslens.encoders.condition import Condition
from crosslens.errors import EncoderError, RequestError, suggest
from crosslens.mlm.factors import find_factor
from crosslens.probes import PROBES
from crosslens.settings import read_settings
from crosslens.tasks import TASKS
from crosslens.training.recipe import DEFAULT_RECIPE, find_recipe


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(_Strict):
    """A language, or a domain of it, that models are trained on.

    Attributes:
        train: its training corpus.
        dev: its development corpus; None: the same treebank's.
        tests: corpora that its models are evaluated on; ``ud/*_pud`` is every PUD treebank there is.
        translated_from: the language that the training data were translated from (translate-train); None: from none.
        text: raw text that encoders are adapted to, or made from; usually of the tests' language. None: there is none.
    """

    train: str
    dev: str | None = None
    tests: tuple[str, ...]
    translated_from: str | None = None
    text: str | None = None


class Data(_Strict):
    """The corpora of a study.

    Attributes:
        parallel: sentences and their translations, on which representations are compared.
        recipe: the named recipe that suits them.
        tasks: task -> source -> its corpora.
    """

    parallel: str | None = None
    recipe: str = DEFAULT_RECIPE
    tasks: dict[str, dict[str, Source]] = {}


class Grid(_Strict):
    """A search for the recipe on the source's dev data.

    Attributes:
        each: ``condition``: every condition has its own best recipe (Muller et al. 2021, appendix A.1.1);
            ``task``: that of the reference serves all.
        seed: of the runs that search.
        batch: sizes that are tried; None: the recipe's.
        learning_rate: peaks that are tried; None: the recipe's.
        epochs: numbers that are tried; None: the recipe's.
    """

    each: Literal["condition", "task"] = "task"
    seed: int = 1
    batch: tuple[int, ...] | None = None
    learning_rate: tuple[float, ...] | None = None
    epochs: tuple[int, ...] | None = None

    @property
    def axes(self) -> dict[str, tuple]:
        """Setting -> the values tried."""
        named = {name: getattr(self, name) for name in ("batch", "learning_rate", "epochs")}
        return {name: values for name, values in named.items() if values is not None}


class Selection(_Strict):
    """Which of a training's weights are kept.

    In a file ``best``, ``last`` and ``average`` are short for ``{rule: best}`` and so on, and
    ``{oracle: ud/fr_gsd:dev}`` is the best epoch on dev data of a target language. Zero-shot transfer has none: it
    says how much selecting on the source's loses, and is called an oracle wherever it is shown.

    Attributes:
        rule: as the recipe's ``select``.
        oracle: the corpus whose dev data ``best`` means; None: the source's.
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
            raise ValueError(f"an oracle chooses the best epoch, and the rule is {self.rule}")
        return self

    @property
    def label(self) -> str:
        """``last``, ``oracle ud/fr_gsd:dev``."""
        return f"oracle {self.oracle}" if self.oracle else self.rule


PRETRAIN = "pretrain:"
"""Before the settings by which a study pretrains its own encoders."""

State = Literal["pretrained", "untrained", "fine-tuned"]


class Similarity(_Strict):
    """Whether and how the study's encoders are compared on parallel sentences.

    Attributes:
        of: ``pretrained``, ``untrained`` (everything re-initialised), ``fine-tuned`` (each model after its training).
        measures: names of measures; None: the default ones and their baselines.
        sentences: the first so many; None: all.
    """

    of: tuple[State, ...] = ("pretrained", "untrained")
    measures: tuple[str, ...] | None = None
    sentences: Annotated[int, Field(ge=4)] | None = None


class Probing(_Strict):
    """A probe that is asked of every layer of the study's encoders.

    Attributes:
        probe: its name.
        train: labelled texts.
        test: others.
        dev: on which its learning rate is lowered; None: a tenth of ``train``.
        of: ``pretrained``, ``untrained`` (everything re-initialised).
        inputs: states ``scaled`` to variance 1, or ``raw``.
        set: settings of the probe.
        seed: of the order and the control.
    """

    probe: str
    train: str
    test: str
    dev: str | None = None
    of: tuple[Literal["pretrained", "untrained"], ...] = ("pretrained",)
    inputs: Literal["scaled", "raw"] = "scaled"
    set: Mapping[str, Any] = {}
    seed: int = 1

    @model_validator(mode="after")
    def _known(self) -> "Probing":
        if self.probe not in PROBES:
            raise ValueError(f"there is no probe {self.probe!r} ({suggest(self.probe, PROBES)})")
        return self


class Study(_Strict):
    """What is trained, on what, and what is asked of it. Its runs are all combinations.

    Attributes:
        name: in small letters, digits and hyphens.
        about: what it shows, in a sentence.
        encoder: a hub name, a folder, or ``lab:PRESET`` for an encoder pretrained on that laboratory. Or
            ``pretrain:SETTINGS``: encoders are pretrained as runs of the study, by a file of settings, settings that
            are shipped, or ``lab:PRESET``.
        bilingual: languages that each have an encoder of their own, pretrained on the first language of the settings
            and that one alone; None: one encoder for all.
        pretrained: whether ``each`` seed has an encoder of its own, or they share the ``one`` of the settings' seed.
        starts: the same of the encoders that conditions start with: adapted ones, and those made from scratch. With
            ``one``, how much such encoders differ from seed to seed is in no interval and no test.
        adaptation: settings of conditions that start with an adapted encoder.
        scratch: settings of the pretraining of conditions that start from scratch.
        factors: name -> dotted setting of the pretraining -> its value, beside those that every study knows.
        data: the corpora, or the name of a set of them: ``lab``, ``lab:PRESET``, one that is shipped, or one source
            of it: ``muller2021:en``. A study that only looks at encoders needs none.
        tasks: names of tasks; None: all that the data has.
        sources: names of the data's sources; None: all.
        conditions: what is done to the encoder.
        depth: the depth that the conditions' layers are written for; other encoders have them scaled.
        seeds: a run each.
        recipe: a named recipe; None: the data's.
        set: settings of the recipe or of the task that are replaced.
        select: rules by which a training's weights are selected, a run each; None: the recipe's.
        grid: a search for the recipe, always on the source's dev data; None: no search.
        similarity: comparisons of representations; None: none.
        probes: what is asked of every layer.
        overlap: whether the subwords are counted that each test corpus shares with the source's training data.
        keep: ``models``: also keep the weights.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    about: str = ""
    encoder: str
    bilingual: tuple[str, ...] | None = None
    pretrained: Literal["each", "one"] = "each"
    starts: Literal["each", "one"] = "each"
    adaptation: dict[str, Any] = {}
    scratch: dict[str, Any] = {}
    factors: dict[str, dict[str, Any]] = {}
    data: Data | str = Data()
    tasks: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    conditions: tuple[Condition, ...] = (Condition(),)
    depth: Annotated[int, Field(ge=1)] | None = None
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    recipe: str | None = None
    set: Mapping[str, Any] = {}
    select: tuple[Selection, ...] | None = None
    grid: Grid | None = None
    similarity: Similarity | None = None
    probes: tuple[Probing, ...] = ()
    overlap: bool = False
    keep: tuple[Literal["models"], ...] = ()

    @property
    def pretrains(self) -> bool:
        """Whether its encoders are pretrained by its own runs."""
        return self.encoder.startswith(PRETRAIN)

    @field_validator("seeds", mode="before")
    @classmethod
    def _one_seed(cls, value: Any) -> Any:
        return tuple(range(1, value + 1)) if isinstance(value, int) else value  # `seeds: 3` is 1, 2 and 3

    @field_validator("select", mode="before")
    @classmethod
    def _one_rule(cls, value: Any) -> Any:
        return (value,) if isinstance(value, (str, Mapping)) else value

    @model_validator(mode="after")
    def _known(self) -> "Study":
        wrong = []
        for task in self.tasks or ():
            if task not in TASKS:
                wrong.append(f"there is no task {task!r} ({suggest(task, TASKS)})")
            elif self.recipe is not None:
                try:
                    find_recipe(self.recipe, task, self.set)
                except RequestError as error:
                    wrong.append(str(error))
        for what in ("tasks", "sources", "conditions", "seeds", "select", "bilingual"):
            values = getattr(self, what)
            if values is not None and not values:
                wrong.append(f"{what} is empty")
            if values is not None and len(set(values)) < len(values):
                wrong.append(f"something comes twice in {what}")
        labels = [condition.label for condition in self.conditions]
        if len(set(labels)) < len(labels):  # e.g. a factor that is called like a set of layers
            wrong.append(f"different conditions have one name: {', '.join(sorted(set(labels)))}")
        for condition in self.conditions:
            try:
                if condition.factor is not None:
                    find_factor(condition.factor, self.factors)
                    if not self.pretrains:
                        wrong.append(
                            f"the factor {condition.factor!r} is one of pretraining; encoder: pretrain:SETTINGS"
                        )
            except RequestError as error:
                wrong.append(str(error))
        if self.bilingual is not None and not self.pretrains:
            wrong.append("bilingual encoders are pretrained; encoder: pretrain:SETTINGS")
        if self.depth is not None:
            for condition in self.conditions:
                try:
                    condition.scaled(written_for=None, depth=self.depth)
                except EncoderError as error:
                    wrong.append(str(error))
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def read_study(name_or_path: str | Path, *, overrides: Mapping[str, str] | None = None) -> Study:
    """A study from a file, or one that is shipped.

    Args:
        name_or_path: a ``.yaml`` file, or a name from `library`.
        overrides: dotted setting -> value as YAML: ``{"encoder": "lab:good", "seeds": "[1, 2]"}``.

    Returns:
        The study, validated.

    Raises:
        RequestError: when there is none, or naming every mistake in it with its line.

    Example:
        >>> study = xl.read_study("smoke")
        >>> study.name, study.seeds
        ('smoke', (1,))
    """
    path = Path(name_or_path)
    if path.suffix not in (".yaml", ".yml"):
        shipped = library()
        if str(name_or_path) not in shipped:
            known = suggest(str(name_or_path), shipped)
            raise RequestError(f"there is no study {str(name_or_path)!r}", hint=f"a file ends in .yaml; {known}")
        path = shipped[str(name_or_path)]
    return read_settings(path, Study, overrides=overrides)


def library() -> dict[str, Path]:
    """The studies that are shipped, by name."""
    return _shipped("library")


def data_sets() -> dict[str, Path]:
    """The sets of corpora that are shipped, by name."""
    return _shipped("data")


def pretrainings() -> dict[str, Path]:
    """The settings of pretrainings that are shipped, by name."""
    return _shipped("pretraining")


def _shipped(folder: str) -> dict[str, Path]:
    files = sorted(Path(str(resources.files("crosslens.studies") / folder)).glob("*.yaml"))
    return {file.stem: file for file in files}
