"""How a model is fine-tuned: an immutable, validated value. Named recipes carry their source."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crosslens.errors import RequestError, suggest

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]


class Recipe(BaseModel):
    """Settings of a fine-tuning: AdamW, linear warm-up, linear decay to 0.

    Attributes:
        batch: windows (nearly always sentences) a step.
        learning_rate: the peak, reached at the end of the warm-up.
        head_learning_rate: the peak for the task's head; None: the same.
        epochs: passes over the training data.
        warmup: share of all steps in which the learning rate rises.
        weight_decay: decoupled, on matrices; never on biases, normalisations and embeddings.
        betas: AdamW's decay rates.
        epsilon: AdamW's.
        clip: largest norm of a step's gradient; None: not clipped.
        head_dropout: before the head's linear layer.
        encoder_dropout: ``checkpoint``: as its configuration says; ``off``: none (small data, small encoder).
        window: subwords a window, special tokens included; None: all that the encoder has positions for.
        context: subwords that neighbouring windows of a long sentence share; None: half a window.
        limit: train on this many sentences, spread evenly over the corpus (treebanks are sorted by genre).
        select: ``best``: the epoch that scores highest on the source's dev set; ``last``: the last one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    batch: Count = 16
    learning_rate: Positive = 5e-5
    head_learning_rate: Positive | None = None
    epochs: Count = 6
    warmup: Share = 0.1
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    betas: tuple[Share, Share] = (0.9, 0.999)
    epsilon: Positive = 1e-8
    clip: Positive | None = 1.0
    head_dropout: Share = 0.1
    encoder_dropout: Literal["checkpoint", "off"] = "checkpoint"
    window: Annotated[int, Field(ge=8)] | None = None
    context: Annotated[int, Field(ge=0)] | None = None
    limit: Count | None = None
    select: Literal["best", "last"] = "best"


RECIPES: dict[str, Recipe] = {
    # Muller et al. 2021, appendix A.1.1 and Table 3.
    "muller2021.pos": Recipe(batch=16, learning_rate=5e-5, epochs=6),
    # Measured for encoders of some 20 million parameters and a thousand sentences: the published learning rates
    # leave a fresh layer untrained after so few steps.
    "small": Recipe(
        batch=16, learning_rate=2e-4, head_learning_rate=1e-3, epochs=2, encoder_dropout="off", select="last"
    ),
}


def find_recipe(name: str, settings: Mapping[str, str] | None = None) -> Recipe:
    """A named recipe with some of its settings replaced, as the command line gives them.

    Args:
        name: one of `RECIPES`.
        settings: setting -> value as text; ``none`` is None.

    Raises:
        RequestError: naming every setting that is unknown or has a value that does not fit.
    """
    if name not in RECIPES:
        raise RequestError(f"there is no recipe {name!r}", hint=suggest(name, RECIPES))
    recipe = RECIPES[name]
    replaced: dict[str, object] = recipe.model_dump()
    for setting, value in (settings or {}).items():
        if setting not in Recipe.model_fields:
            raise RequestError(f"a recipe has no setting {setting!r}", hint=suggest(setting, Recipe.model_fields))
        several = setting == "betas"
        replaced[setting] = None if value.lower() == "none" else value.split(",") if several else value
    try:
        return Recipe.model_validate(replaced)
    except ValidationError as error:
        wrong = [f"{e['loc'][0]}={replaced[str(e['loc'][0])]}: {e['msg']}" for e in error.errors()]
        raise RequestError("; ".join(dict.fromkeys(wrong))) from None
