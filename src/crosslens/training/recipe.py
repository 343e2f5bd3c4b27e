"""Fine-tuning recipes: immutable, validated settings. Named recipes cite their source."""

import math
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, Field

from crosslens.data.corpus import Corpus, trained_languages
from crosslens.encoders.options import Precision
from crosslens.errors import RequestError, require_known, suggest
from crosslens.formatting import counted
from crosslens.settings import Count, Positive, Share, Strict, replace_settings
from crosslens.tasks import Task, find_task

FEW_STEPS = 50
"""Steps below which a model is probably under-trained: multilingual-e5-small, trained with the recipe ``small`` on 160
sentences, tagged 75 % of Wolof words after 20 steps, 80 % after 50 and 84 % after 100; of English ones 78 % after 20,
92 % after 50 and 94 % after 70."""


class Recipe(Strict):
    """Settings for fine-tuning with AdamW.

    Attributes:
        name: named recipe that these settings are derived from; None: none. The name does not affect training.
        batch: sentences per step, over all processes.
        micro_batch: sentences per forward pass, to save memory; None: the whole batch. Without dropout the result is
            the same up to rounding; with dropout the masks differ. Each value has its own run id.
        precision: number format of the encoder's computation in training and prediction; ``bfloat16`` is faster on GPUs
            and on CPUs with AMX or AVX-512 bfloat16 instructions, and slower on others.
        gradient_checkpointing: ``layers``: keep only the inputs of the layers in memory and compute the rest again in
            the backward pass, to save memory; ``off``: keep everything. The result is the same up to rounding.
        learning_rate: peak learning rate, reached at the end of the warm-up.
        head_learning_rate: peak learning rate of the task head; None: the same as the encoder's.
        epochs: passes over the training data.
        schedule: ``linear``: warm-up, then linear decay to 0; ``plateau``: the peak, halved after every epoch without a
            new best dev score, until it falls below ``floor`` and training ends; ``constant``: the peak.
        floor: learning rate at which a ``plateau`` schedule ends training.
        warmup: fraction of all steps in which the learning rate rises, rounded up to whole steps.
        weight_decay: decoupled weight decay of matrices; biases, normalisation weights and embeddings do not decay.
        betas: decay rates of AdamW's moment estimates.
        epsilon: AdamW's epsilon.
        clip: maximum norm of a step's gradient; None: no clipping.
        head_dropout: dropout before a tagger's linear layer, or after a parser's projections.
        encoder_dropout: ``checkpoint``: as configured in the checkpoint; ``trained``: only in layers that are not
            frozen; ``off``: none, for small data and small encoders. Without dropout, the states of frozen layers are
            computed once and cached.
        window: subwords per window, special tokens included; None: the encoder's maximum.
        context: subwords shared by neighbouring windows of a long sentence; None: half a window.
        limit: number of training sentences, spread evenly over the corpus (treebanks are sorted by genre); None: all.
        select: ``best``: the epoch with the highest dev score; ``last``: the last epoch; ``average``: the mean of the
            weights after each epoch.
        select_by: metric for ``best``; None: the task's main metric.
        task: settings of the task.
    """

    name: str | None = None
    batch: Count = 16
    micro_batch: Count | None = None
    precision: Precision = "float32"
    gradient_checkpointing: Literal["off", "layers"] = "off"
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
    def needs_dev(self) -> bool:
        """Whether dev scores select the weights or end the training."""
        return self.select == "best" or self.schedule == "plateau"

    def selection(self, *, train: Corpus, dev: Corpus | None) -> str:
        """Name how weights are selected; as an oracle if by data of another language than that of training.

        Zero-shot transfer has no such data. A corpus of unknown language counts as one of the same language.
        """
        if dev is None or not self.needs_dev or None in (train.language, dev.language):
            return self.select
        if set(trained_languages(dev.language)) <= set(trained_languages(train.language)):
            return self.select
        return f"oracle {dev.name}" if self.select == "best" else f"{self.select}, oracle {dev.name}"

    def few_steps(self, sentences: int) -> str | None:
        """Warn of a training with fewer than `FEW_STEPS`, and name the number of epochs that has twice as many."""
        epoch_steps = math.ceil(min(sentences, self.limit or sentences) / self.batch)
        steps = self.epochs * epoch_steps
        if steps >= FEW_STEPS:
            return None
        enough = math.ceil(2 * FEW_STEPS / epoch_steps)
        number = f"{counted(steps, 'step', 'steps')} ({counted(self.epochs, 'epoch', 'epochs')})"
        return f"with {number} of training, the model is probably under-trained; set epochs={enough}"

    @property
    def may_drop_out(self) -> bool:
        """Whether training may use dropout, so that the weights depend on how batches are split into micro-batches."""
        return self.encoder_dropout != "off" or self.head_dropout > 0


# Wu & Dredze 2019, section 5. The paper selects from a grid without printing the choices; these are its middle.
_WU2019 = Recipe(batch=32, learning_rate=3e-5, epochs=3, weight_decay=0.01, clip=None)
_FEATURES = Recipe(
    batch=32, learning_rate=1e-3, epochs=100, schedule="plateau", clip=None, window=128, encoder_dropout="off"
)
# Optimiser and dropout of Stanza (Qi et al. 2020); the number of epochs is ours, for a thousand sentences.
_BILSTM = Recipe(batch=16, learning_rate=3e-3, epochs=30, betas=(0.9, 0.95), head_dropout=0.33, select="last")


def _with(recipe: Recipe, **settings: Any) -> Recipe:
    return Recipe.model_validate({**recipe.model_dump(), **settings})


_NAMED: dict[str, Recipe] = {
    # Muller et al. 2021, appendix A.1.1 and Table 3; the default sizes of the parser are those of the first author's
    # code.
    "muller2021.pos": Recipe(batch=16, learning_rate=5e-5, epochs=6),
    "muller2021.parsing": Recipe(batch=32, learning_rate=5e-5, epochs=15),
    "muller2021.ner": Recipe(batch=16, learning_rate=3.5e-5, epochs=6),
    # As above, with further choices of that code: no clipping, no dropout before a tagger's layer, greedy decoding,
    # parsers selected by UAS and scored with subtypes.
    "muller2021-ref.pos": Recipe(batch=16, learning_rate=5e-5, epochs=6, clip=None, epsilon=1e-6, head_dropout=0.0),
    "muller2021-ref.parsing": Recipe(
        batch=32,
        learning_rate=5e-5,
        epochs=15,
        clip=None,
        epsilon=1e-6,
        select_by="uas",
        task={"relations": "full", "decode": "greedy"},
    ),
    "muller2021-ref.ner": Recipe(batch=16, learning_rate=3.5e-5, epochs=6, clip=None, epsilon=1e-6, head_dropout=0.0),
    # Wu & Dredze 2019, with every word and windows of the encoder's full length.
    **{f"wu2019.{task}": _WU2019 for task in ("pos", "ner")},
    "wu2019.parsing": _with(_WU2019, task={"metric": "las_nopunct"}),
    **{f"wu2019.{task}": _with(_WU2019, window=128) for task in ("document", "nli")},
    # The same with the paper's windows of 128 subwords that overlap by 64, and two sentences per document. The parser's
    # sizes, dropout and untrained root are those of the code released later.
    **{f"wu2019-ref.{task}": _with(_WU2019, window=128, context=64) for task in ("pos", "ner")},
    "wu2019-ref.parsing": _with(
        _WU2019,
        window=128,
        context=64,
        head_dropout=0.33,
        task={
            "arc_size": 512,
            "relation_size": 128,
            "root": "wu2019-masked",
            "words": "wu2019",
            "metric": "las_nopunct",
        },
    ),
    "wu2019-ref.document": _with(_WU2019, window=128, task={"sentences": 2}),
    "wu2019-ref.nli": _with(_WU2019, window=128),
    # The feature-based approach of section 5.2: a BiLSTM on all layers of the frozen encoder.
    **{f"wu2019-features.{task}": _with(_FEATURES, context=64) for task in ("pos", "parsing", "ner")},
    **{f"wu2019-features.{task}": _with(_FEATURES, task={"pooling": "max"}) for task in ("document", "nli")},
    # Conneau, Wu et al. 2020, section 3.2: the middle of each grid. The paper prints the mean of the best two settings.
    "conneau2020.ner": Recipe(batch=32, learning_rate=3e-5, epochs=10),
    "conneau2020.parsing": Recipe(batch=32, learning_rate=3e-5, epochs=10),
    "conneau2020.nli": Recipe(
        batch=8, learning_rate=2.5e-6, head_learning_rate=2.5e-5, epochs=200, schedule="constant", window=128
    ),
    # BiLSTM baseline without pretraining.
    **{f"bilstm.{task}": _BILSTM for task in ("pos", "parsing", "ner", "document", "nli")},
    "bilstm": _BILSTM,  # any other task
    # Tuned on artificial languages and encoders of width 64 (see `crosslens lab`).
    "lab": Recipe(batch=32, learning_rate=1e-3, epochs=3, limit=1000, encoder_dropout="off", select="last"),
    # Tuned for encoders of about 20 million parameters and a thousand sentences, for which the published learning rates
    # are too low.
    "small": Recipe(
        batch=16, learning_rate=2e-4, head_learning_rate=1e-3, epochs=2, encoder_dropout="off", select="last"
    ),
}

RECIPES = {name: _with(recipe, name=name) for name, recipe in _NAMED.items()}
"""Name -> recipe. A name that ends in a task's name is for that task. ``muller2021-ref`` and ``wu2019-ref`` follow a
paper's released code wherever it is known to deviate from the paper in a way that affects a published score."""

BILSTM = "bilstm"
"""Name to pass instead of an encoder for a BiLSTM trained without pretraining; also the name of its recipes."""

DEFAULT = "default"
"""Recipe name that selects the task's own default, `Task.recipe`."""

DEFAULT_RECIPE = "muller2021"
"""Recipe name used when the user names none. Tasks that the paper does not have use their own default instead."""


def default_recipe(task: Task) -> Recipe:
    """Return the default recipe of a task.

    Raises:
        RequestError: when `Task.recipe` is an unknown name or has invalid settings.
    """
    if not isinstance(task.recipe, str):
        settings = {**task.recipe, "name": f"{DEFAULT}.{task.name}"}
        return replace_settings(Recipe(), settings, what=f"the default recipe of {task.name}")
    require_known(task.recipe, RECIPES, f"the default recipe of {task.name} does not exist:")
    return RECIPES[task.recipe]


def find_recipe(name: str, task: str | Task, settings: Mapping[str, Any] | None = None) -> Recipe:
    """Find a named recipe for a task, and override some of its settings.

    >>> find_recipe("muller2021", "pos", {"epochs": "3"}).epochs
    3

    Args:
        name: one of `RECIPES`, with or without the task's name at the end; ``default``: the task's own default.
        task: the task or its name.
        settings: setting of the recipe or the task -> value as text; ``none`` is None.

    Returns:
        The recipe, under its original name.

    Raises:
        RequestError: naming every unknown setting and invalid value.
    """
    task = find_task(task) if isinstance(task, str) else task
    recipe = _named(name, task)
    if recipe is None:
        profiles = {DEFAULT, *(known.removesuffix(f".{task.name}") for known in RECIPES)}
        raise RequestError(f"there is no recipe {name!r} for {task.name}", hint=suggest(name, profiles))
    task_defaults = type(task)().settings
    of_recipe = {key: value for key, value in (settings or {}).items() if key in _SETTINGS}
    of_task = {key: value for key, value in (settings or {}).items() if key not in of_recipe}
    for key in of_task:
        if key not in task_defaults:
            known = known_settings(task)
            raise RequestError(f"neither recipes nor {task.name} have a setting {key!r}", hint=suggest(key, known))
    changed = _task_settings(task, {**recipe.task, **of_task})
    chosen = {key: value for key, value in changed.items() if value != task_defaults[key]}
    return replace_settings(recipe, {**of_recipe, "task": chosen}, what="a recipe")


def known_settings(task: Task) -> list[str]:
    """Return the names of all settings of recipes and of a task."""
    return [*_SETTINGS, *type(task)().settings]


def differing(recipe: Recipe, task: Task) -> dict[str, Any]:
    """Return the settings of recipe and task that differ from the task's default recipe; papers should report them."""
    return _differing(recipe, task, default_recipe(task))


def overrides(recipe: Recipe, task: Task) -> dict[str, Any]:
    """Return the settings of recipe and task that differ from the named recipe, `Recipe.name`.

    A recipe without a known name is compared with `Recipe()` and the task's defaults.
    """
    named = _named(recipe.name, task) if recipe.name is not None else None
    return _differing(recipe, task, named or Recipe())


def recipe_columns(recipe: Recipe, task: Task, *, tuned: Collection[str] = ()) -> dict[str, str | None]:
    """Return the columns ``recipe`` and ``settings`` of a record; ``select`` has its own column.

    A limit is named even if it is the recipe's: it changes the data, so recipes are compared under the same one only.

    Args:
        tuned: settings that a search chose, written without their values: ``batch=tuned``.
    """
    named = overrides(recipe, task) | {"limit": recipe.limit}
    left_out = {"select", *tuned, *(["limit"] if recipe.limit is None else [])}
    words = [f"{key}={value}" for key, value in named.items() if key not in left_out]
    words += [f"{key}=tuned" for key in tuned]
    return {"recipe": recipe.name, "settings": " ".join(words) or None}


_SETTINGS = [name for name in Recipe.model_fields if name not in ("name", "task")]
"""Fields of a recipe that affect training."""


def _named(name: str, task: Task) -> Recipe | None:
    """Return the recipe with this name, or None."""
    known = next((key for key in (f"{name}.{task.name}", name) if key in RECIPES), None)
    if known is not None:
        return RECIPES[known]
    return default_recipe(task) if name in (DEFAULT_RECIPE, DEFAULT, f"{DEFAULT}.{task.name}") else None


def _task_settings(task: Task, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings of a task: its defaults with some replaced."""
    defaults = cast(BaseModel, type(task)())
    return cast(Task, replace_settings(defaults, settings, what=f"the task {task.name}")).settings


def _differing(recipe: Recipe, task: Task, base: Recipe) -> dict[str, Any]:
    before = {**base.model_dump(mode="json"), **_task_settings(task, base.task)}
    used = {**recipe.model_dump(mode="json", include=set(_SETTINGS)), **task.settings}
    return {key: value for key, value in used.items() if value != before[key]}
