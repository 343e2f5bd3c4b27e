"""Identity of a fine-tuning run: everything that determines the weights.

State files of `finetune`, ``run.json``, ``crosslens finetune`` and the run stores of studies share this identity.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crosslens.digests import digest
from crosslens.encoders.condition import Condition
from crosslens.tasks import Task
from crosslens.training import versions
from crosslens.training.recipe import Recipe

DIGITS = 16
"""Hexadecimal digits of a run id."""


def training_identity(
    *,
    encoder: str,
    condition: Condition,
    seed: int,
    task: Task,
    recipe: Recipe,
    train: str,
    dev: str | None,
    drawn: Sequence[int] = (),
    languages: tuple[str | None, str | None] | None = None,
) -> dict[str, Any]:
    """Describe everything that determines the weights of a fine-tuned model, as plain values.

    Default settings are left out, so that run ids stay the same when a setting with a neutral default is added.

    Args:
        encoder: digest of the encoder before the condition was applied.
        condition: interventions on the encoder; its own recipe is ignored.
        seed: random seed of the run.
        recipe: the recipe; its name is ignored.
        train: digest of the training corpus, before the recipe's limit.
        dev: digest of the development corpus.
        drawn: seeds of the interventions, such as re-initialised layers; left out if all equal ``seed``.
        languages: languages of training and development data, for an encoder with language-specific parts, which they
            select; None: another encoder.
    """
    defaults = type(task)().settings
    described: dict[str, Any] = {
        "encoder": encoder,
        "condition": described_condition(condition),
        "seed": seed,
        "task": task.name,
        "settings": {name: value for name, value in task.settings.items() if defaults.get(name, task) != value},
        "recipe": recipe.model_dump(mode="json", exclude_defaults=True, exclude={"task", "name"}),
        "train": train,
        "dev": dev,
        "semantics": versions.FINE_TUNING if condition.trains_all else versions.FINE_TUNING_FROZEN,
    }
    if condition.start == "bilstm":
        described["bilstm"] = versions.BILSTM
    if languages is not None:
        described["languages"] = list(languages)
    return {**described, "drawn": list(drawn)} if any(draw != seed for draw in drawn) else described


def described_condition(condition: Condition) -> Any:
    """Describe the interventions of a condition as plain values; {} without interventions."""
    return Condition.of(condition.interventions).plain if condition.interventions else {}


def run_id(identity: Mapping[str, Any]) -> str:
    """Return the id of a run: the first digits of the digest of its identity."""
    return digest(dict(identity))[:DIGITS]
