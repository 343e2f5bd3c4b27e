"""A fine-tuned model: an encoder, a task's head on it, and all that says how it came to be."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import nn

from crosslens.encoders.encoder import Encoder
from crosslens.tasks import Task
from crosslens.training.recipe import Recipe


@dataclass(frozen=True, slots=True, eq=False)
class TaskModel:
    """What `finetune` returns and `predict` and `evaluate` take.

    Attributes:
        encoder: the fine-tuned encoder; ``encoder.changes`` says what was drawn anew or frozen before.
        task: what it does.
        head: the trained head.
        labels: what it can predict, in the order of the head's outputs.
        recipe: how it was trained.
        source: the language it was trained on.
        seed: of the training.
        facts: everything else worth keeping: digests of the data, steps, losses, dev scores, versions.
    """

    encoder: Encoder
    task: Task
    head: nn.Module
    labels: tuple[str, ...]
    recipe: Recipe
    source: str | None
    seed: int
    facts: Mapping[str, str | int | float]
