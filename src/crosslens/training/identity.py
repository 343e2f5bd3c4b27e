"""Identity of a fine-tuning: everything that determines the weights.

`finetune` and its state file, ``run.json``, ``crosslens finetune`` and the run store of a study share this identity.
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
) -> dict[str, Any]:
    """Everything that determines the weights of a fine-tuned model, as plain values.

    Default settings are left out, so run ids stay the same when a setting with a neutral default is added later.

    Args:
        encoder: digest of the encoder before the condition was applied.
        condition: interventions on the encoder; its own recipe is ignored.
        seed: random seed of the training.
        task: the task with its settings.
        recipe: the recipe; its name is ignored.
        train: digest of the training corpus, before the recipe's limit.
        dev: digest of the development corpus.
        drawn: seeds of the interventions, such as re-initialised layers; those equal to ``seed`` are left out.
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
    other = [draw for draw in drawn if draw != seed]
    return {**described, "drawn": list(drawn)} if other else described


def described_condition(condition: Condition) -> Any:
    """The interventions of a condition as plain values; {} without interventions."""
    return Condition.of(condition.interventions).plain if condition.interventions else {}


def run_id(identity: Mapping[str, Any]) -> str:
    """The id of a run: the first digits of its identity's digest."""
    return digest(dict(identity))[:DIGITS]
