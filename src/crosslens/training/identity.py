"""What determines the weights of a fine-tuned model, by whichever door the training was asked for.

`finetune` and its state file, ``run.json``, ``crosslens finetune`` and the store of a study all know it by this.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crosslens.digests import digest
from crosslens.encoders.condition import Condition
from crosslens.tasks import Task
from crosslens.training import versions
from crosslens.training.recipe import Recipe

DIGITS = 16
"""Hexadecimal digits of an id."""


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
    """All that determines the weights, as plain values.

    Settings that have their default are left out, so that a setting added later, with the default that leaves
    everything as it was, leaves the ids as they were too.

    Args:
        encoder: digest of the encoder before the condition was applied.
        condition: what was done to it; its recipe says nothing beyond ``recipe``.
        seed: of the training.
        task: with its settings.
        recipe: its name says nothing; its settings do.
        train: digest of the training corpus, before the recipe's limit.
        dev: of the development corpus.
        drawn: seeds of re-initialised layers and the like, where they are not ``seed``.
    """
    usual = type(task)().settings
    described: dict[str, Any] = {
        "encoder": encoder, "condition": described_condition(condition), "seed": seed, "task": task.name,
        "settings": {name: value for name, value in task.settings.items() if usual.get(name, task) != value},
        "recipe": recipe.model_dump(mode="json", exclude_defaults=True, exclude={"task", "name"}),
        "train": train, "dev": dev,
        "semantics": versions.FINE_TUNING if condition.trains_all else versions.FINE_TUNING_FROZEN,
    }  # fmt: skip
    if condition.start == "bilstm":
        described["bilstm"] = versions.BILSTM
    other = [draw for draw in drawn if draw != seed]
    return {**described, "drawn": list(drawn)} if other else described


def described_condition(condition: Condition) -> Any:
    """What of a condition determines weights: its interventions, as plain values; {} for none."""
    return Condition.of(condition.interventions).plain if condition.interventions else {}


def run_id(identity: Mapping[str, Any]) -> str:
    """The id of a run: the first digits of the digest of its identity."""
    return digest(dict(identity))[:DIGITS]
