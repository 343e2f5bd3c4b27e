"""A fine-tuned model: an encoder, a task's head on it, and all that says how it came to be."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from crosslens.encoders.encoder import Encoder
from crosslens.tasks import Task
from crosslens.training.recipe import Recipe, recipe_columns


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

    @property
    def columns(self) -> dict[str, Any]:
        """What every record of this model says of it: columns of `crosslens.results.record.Record`."""
        facts, encoder = self.facts, self.encoder
        return {
            **encoder.condition.columns, "run": facts.get("run"), "task": self.task.name, "encoder": encoder.name,
            "encoder_digest": encoder.loaded_digest, "depth": encoder.depth, "state": "fine-tuned",
            "source": self.source, "seed": self.seed,
            **{name: facts.get(name) for name in ("train", "train_digest", "translated_from", "dev", "selection")},
            **recipe_columns(self.recipe, self.task),
        }  # fmt: skip

    @property
    def provenance(self) -> dict[str, str | int | float]:
        """What else is worth keeping with its records; names of data are in their columns."""
        return {f"training_{name}": value for name, value in self.facts.items() if name not in NAMED}


def model_digest(encoder: Encoder, head: nn.Module) -> str:
    """sha256 of all trained weights: two trainings that should be the same can be told to be."""
    state = hashlib.sha256(encoder.digest.encode())
    for name, tensor in sorted(head.state_dict().items()):
        state.update(name.encode())
        state.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return state.hexdigest()


NAMED = frozenset(
    {"run", "train", "train_digest", "train_release", "translated_from", "dev", "dev_digest", "selection", "seconds",
     "encoder_digest", "weights"}
)  # fmt: skip
"""Facts that stand in columns, or that depend on names and machines: records of one training are the same bytes."""
