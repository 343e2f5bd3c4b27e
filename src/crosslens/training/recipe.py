"""How a model is fine-tuned: an immutable, validated value. Named recipes carry their source."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from crosslens.encoders.options import Precision
from crosslens.errors import RequestError, suggest
from crosslens.settings import replace_settings
from crosslens.tasks import Task, find_task

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]


class Recipe(BaseModel):
    """Settings of a fine-tuning with AdamW.

    Attributes:
        name: the named recipe that these settings were derived from; None: none. It determines nothing.
        batch: sentences a step, whatever the number of processes.
        micro_batch: sentences read at once, to save memory; None: all of a batch. Without dropout the result is the
            same up to rounding; with dropout the masks are others. Runs of different values have different ids.
        precision: what the encoder computes in; ``bfloat16`` is for GPUs, and slower on most CPUs.
        learning_rate: the peak, reached at the end of the warm-up.
        head_learning_rate: the peak for the task's head; None: the same.
        epochs: passes over the training data.
        schedule: ``linear``: warm-up, then linear decay to 0; ``plateau``: the peak, halved after every epoch whose dev
            score is not the best so far, and the end of training when it is below ``floor``; ``constant``: the peak.
        floor: see there.
        warmup: share of all steps in which the learning rate rises.
        weight_decay: decoupled, on matrices; never on biases, normalisations and embeddings.
        betas: AdamW's decay rates.
        epsilon: AdamW's.
        clip: largest norm of a step's gradient; None: not clipped.
        head_dropout: before a tagger's linear layer; behind a parser's projections.
        encoder_dropout: ``checkpoint``: as its configuration says; ``trained``: only in what is not frozen; ``off``:
            none (small data, small encoder). Where frozen layers have none, what they give is computed once and kept.
        window: subwords a window, special tokens included; None: all that the encoder has positions for.
        context: subwords that neighbouring windows of a long sentence share; None: half a window.
        limit: train on this many sentences, spread evenly over the corpus (treebanks are sorted by genre).
        select: ``best``: the epoch that scores highest on the dev set; ``last``: the last one; ``average``: the mean of
            the weights at the ends of all epochs.
        select_by: the score that ``best`` means; None: the one the task's tables show.
        task: settings of the task itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str | None = None
    batch: Count = 16
    micro_batch: Count | None = None
    precision: Precision = "float32"
    learning_rate: Positive = 5e-5
    head_learning_rate: Positive | None = None
    epochs: Count = 6
    schedule: Literal["linear", "plateau", "constant"] = "linear"
    floor: Positive = 1e-5
    warmup: Share = 0.1
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    betas: tuple[Share, Share] = (0.9, 0.999)
    epsilon: Positive = 1e-8
    clip: Positive | None = 1.0
    head_dropout: Share = 0.1
    encoder_dropout: Literal["checkpoint", "trained", "off"] = "checkpoint"
    window: Annotated[int, Field(ge=8)] | None = None
    context: Annotated[int, Field(ge=0)] | None = None
    limit: Count | None = None
    select: Literal["best", "last", "average"] = "best"
    select_by: str | None = None
    task: Mapping[str, str | int | float] = {}

    @property
    def may_drop_out(self) -> bool:
        """Whether dropout is possible; then the weights depend on how batches are cut into micro-batches."""
        return self.encoder_dropout != "off" or self.head_dropout > 0


# Wu & Dredze 2019, section 5. The paper selects from a grid and does not print the choices: these are its middle.
_WU2019 = Recipe(batch=32, learning_rate=3e-5, epochs=3, weight_decay=0.01, clip=None)
_FEATURES = Recipe(
    batch=32, learning_rate=1e-3, epochs=100, schedule="plateau", clip=None, window=128, encoder_dropout="off"
)
# The optimiser and dropout of Stanza (Qi et al. 2020); the number of passes is ours, for a thousand sentences.
_BILSTM = Recipe(batch=16, learning_rate=3e-3, epochs=30, betas=(0.9, 0.95), head_dropout=0.33, select="last")


def _but(recipe: Recipe, **settings: Any) -> Recipe:
    return Recipe.model_validate({**recipe.model_dump(), **settings})


_NAMED: dict[str, Recipe] = {
    # Muller et al. 2021, appendix A.1.1 and Table 3; a parser's usual sizes are those of its first
    # author's code.
    "muller2021.pos": Recipe(batch=16, learning_rate=5e-5, epochs=6),
    "muller2021.parsing": Recipe(batch=32, learning_rate=5e-5, epochs=15),
    "muller2021.ner": Recipe(batch=16, learning_rate=3.5e-5, epochs=6),
    # The same with what that code does besides: no clipping, no dropout before a tagger, heads chosen one by one,
    # parsers selected by UAS and scored with subtypes.
    "muller2021-ref.pos": Recipe(batch=16, learning_rate=5e-5, epochs=6, clip=None, epsilon=1e-6, head_dropout=0.0),
    "muller2021-ref.parsing": Recipe(
        batch=32, learning_rate=5e-5, epochs=15, clip=None, epsilon=1e-6, select_by="uas",
        task={"relations": "full", "decode": "greedy"},
    ),
    "muller2021-ref.ner": Recipe(
        batch=16, learning_rate=3.5e-5, epochs=6, clip=None, epsilon=1e-6, head_dropout=0.0
    ),
    # Wu & Dredze 2019, reading every word in windows as large as the encoder's.
    **{f"wu2019.{task}": _WU2019 for task in ("pos", "ner")},
    "wu2019.parsing": _but(_WU2019, task={"metric": "las_nopunct"}),
    **{f"wu2019.{task}": _but(_WU2019, window=128) for task in ("document", "nli")},
    # The same with the paper's windows of 128 subwords that keep 64, and two sentences a document. The parser's sizes,
    # its dropout and its untrained root are those of the code released later.
    **{f"wu2019-ref.{task}": _but(_WU2019, window=128, context=64) for task in ("pos", "ner")},
    "wu2019-ref.parsing": _but(
        _WU2019, window=128, context=64, head_dropout=0.33,
        task={
            "arc_size": 512, "relation_size": 128, "root": "wu2019-masked", "words": "wu2019", "metric": "las_nopunct",
        },
    ),
    "wu2019-ref.document": _but(_WU2019, window=128, task={"sentences": 2}),
    "wu2019-ref.nli": _but(_WU2019, window=128),
    # Its feature-based use (section 5.2): a BiLSTM on all layers, the encoder fixed.
    **{f"wu2019-features.{task}": _but(_FEATURES, context=64) for task in ("pos", "parsing", "ner")},
    **{f"wu2019-features.{task}": _but(_FEATURES, task={"pooling": "max"}) for task in ("document", "nli")},
    # Conneau, Wu et al. 2020, section 3.2: the middle of its grids. It reports the mean of the best two settings; here
    # is one, and seeds tell the spread.
    "conneau2020.ner": Recipe(batch=32, learning_rate=3e-5, epochs=10),
    "conneau2020.parsing": Recipe(batch=32, learning_rate=3e-5, epochs=10),
    "conneau2020.nli": Recipe(
        batch=8, learning_rate=2.5e-6, head_learning_rate=2.5e-5, epochs=200, schedule="constant", window=128
    ),
    # A BiLSTM without pretraining.
    **{f"bilstm.{task}": _BILSTM for task in ("pos", "parsing", "ner", "document", "nli")},
    "bilstm": _BILSTM,  # any other task's
    # Measured for artificial languages and encoders of width 64 (see `crosslens lab`).
    "lab": Recipe(batch=32, learning_rate=1e-3, epochs=3, limit=1000, encoder_dropout="off", select="last"),
    # Measured for encoders of some 20 million parameters and a thousand sentences: the published learning rates
    # leave a fresh layer untrained after so few steps.
    "small": Recipe(
        batch=16, learning_rate=2e-4, head_learning_rate=1e-3, epochs=2, encoder_dropout="off", select="last"
    ),
}  # fmt: skip

RECIPES = {name: _but(recipe, name=name) for name, recipe in _NAMED.items()}
"""Named settings. One that ends in a task's name is that task's; ``muller2021-ref`` and ``wu2019-ref`` are profiles:
all that a paper's code is known to do otherwise, as far as it moves a published number."""

BILSTM = "bilstm"
"""What is said in place of an encoder that is made of the training data, and its recipes' name."""

DEFAULT = "default"
"""The recipe that a task brings itself (`Task.recipe`)."""

DEFAULT_RECIPE = "muller2021"
"""The recipe where none is named; for a task that is not in that paper, the task's own default."""


def default_recipe(task: Task) -> Recipe:
    """The default recipe of a task.

    Raises:
        RequestError: for a task whose default is not a recipe: an unknown name, or settings that do not fit.
    """
    if not isinstance(task.recipe, str):
        settings = {**task.recipe, "name": f"{DEFAULT}.{task.name}"}
        return replace_settings(Recipe(), settings, what=f"the default recipe of {task.name}")
    if task.recipe not in RECIPES:
        raise RequestError(
            f"the default recipe of {task.name} does not exist: {task.recipe!r}", hint=suggest(task.recipe, RECIPES)
        )
    return RECIPES[task.recipe]


def find_recipe(name: str, task: str | Task, settings: Mapping[str, Any] | None = None) -> Recipe:
    """A named recipe for a task with some of its settings replaced, as the command line gives them.

    Args:
        name: one of `RECIPES`, with or without the task's name at its end; ``default``: the task's own.
        task: the task, or its name.
        settings: setting -> value as text, of the recipe or of the task; ``none`` is None.

    Returns:
        The recipe; it keeps the name, whatever is replaced.

    Raises:
        RequestError: naming every setting that is unknown or has a value that does not fit.
    """
    task = find_task(task) if isinstance(task, str) else task
    recipe = _named(name, task)
    if recipe is None:
        profiles = {DEFAULT, *(known.removesuffix(f".{task.name}") for known in RECIPES)}
        raise RequestError(f"there is no recipe {name!r} for {task.name}", hint=suggest(name, profiles))
    usual = type(task)().settings
    own = {key: value for key, value in (settings or {}).items() if key in _SETTINGS}
    of_task = {key: value for key, value in (settings or {}).items() if key not in own}
    for key in of_task:
        if key not in usual:
            known = [*_SETTINGS, *usual]
            raise RequestError(f"neither recipes nor {task.name} have a setting {key!r}", hint=suggest(key, known))
    changed = _task_settings(task, {**recipe.task, **of_task})
    chosen = {key: value for key, value in changed.items() if value != usual[key]}
    return replace_settings(recipe, {**own, "task": chosen}, what="a recipe")


def differing(recipe: Recipe, task: Task) -> dict[str, Any]:
    """The settings, of recipe and task, that are not those of the task's default recipe: what a paper must mention."""
    return _differing(recipe, task, default_recipe(task))


def overrides(recipe: Recipe, task: Task) -> dict[str, Any]:
    """The settings, of recipe and task, that are not those of the named recipe, `Recipe.name`.

    Where the recipe has no name, or one that is unknown here: not those of `Recipe()` and of the task by default.
    """
    named = _named(recipe.name, task) if recipe.name is not None else None
    return _differing(recipe, task, named or Recipe())


def recipe_columns(recipe: Recipe, task: Task) -> dict[str, str | None]:
    """How records name a recipe, and what was replaced in it; the rule of selection has a column of its own."""
    words = [f"{key}={value}" for key, value in overrides(recipe, task).items() if key != "select"]
    return {"recipe": recipe.name, "settings": " ".join(words) or None}


_SETTINGS = [name for name in Recipe.model_fields if name not in ("name", "task")]
"""The fields of a recipe that determine a training."""


def _named(name: str, task: Task) -> Recipe | None:
    """The recipe of a name; None: there is none."""
    known = next((key for key in (f"{name}.{task.name}", name) if key in RECIPES), None)
    if known is not None:
        return RECIPES[known]
    return default_recipe(task) if name in (DEFAULT_RECIPE, DEFAULT, f"{DEFAULT}.{task.name}") else None


def _task_settings(task: Task, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a task: its defaults with some replaced."""
    return replace_settings(type(task)(), settings, what=f"the task {task.name}").settings  # pyright: ignore


def _differing(recipe: Recipe, task: Task, base: Recipe) -> dict[str, Any]:
    before = {**base.model_dump(mode="json"), **_task_settings(task, base.task)}
    used = {**recipe.model_dump(mode="json", include=set(_SETTINGS)), **task.settings}
    return {key: value for key, value in used.items() if value != before[key]}
