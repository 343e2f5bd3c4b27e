"""A fine-tuned model: encoder, task head, and provenance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from torch import nn

from crosslens.digests import digest_chunks
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.read_as import read_as
from crosslens.encoders.options import Precision
from crosslens.errors import RequestError
from crosslens.tasks import Task
from crosslens.training.recipe import Recipe, recipe_columns

LABELS_SHOWN = 6
"""Number of labels that are shown of a model."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TaskModel:
    """A fine-tuned model, returned by `finetune` and accepted by `predict` and `evaluate`.

    Attributes:
        encoder: the fine-tuned encoder; ``encoder.changes`` lists re-initialised and frozen layers.
        task: the task.
        head: the trained task head.
        labels: labels it can predict, in the order of the head's outputs.
        recipe: fine-tuning settings.
        source: source language.
        seed: random seed of fine-tuning.
        facts: further provenance: digests of the data, steps, losses, dev scores, versions.
        trained_on: digests of its training items (`Corpus.contents`), so that an evaluation can count those in test
            data; None for folders of earlier versions.
    """

    encoder: Encoder
    task: Task
    head: nn.Module
    labels: tuple[str, ...]
    recipe: Recipe
    source: str | None
    seed: int
    facts: Mapping[str, str | int | float]
    trained_on: frozenset[int] | None = None

    def __repr__(self) -> str:
        recipe = f", recipe {self.recipe.name}" if self.recipe.name else ""
        training = f"fine-tuned on {self.facts.get('train', 'unknown data')}{recipe}, seed {self.seed}"
        labels = f"{len(self.labels)} labels: {', '.join(self.labels[:LABELS_SHOWN])}"
        labels += ", …" if len(self.labels) > LABELS_SHOWN else ""
        encoder = f"encoder {self.encoder.given_name}: {self.encoder.described[0]}"
        changes = self.encoder.described[2:]
        return "\n  ".join((f"TaskModel {self.task.name}, {training}", labels, encoder, *changes))

    def save(self, folder: str | Path) -> None:
        """Save the model to a new folder; see `crosslens.save_model`.

        Raises:
            RequestError: when the folder already exists, or for a model with interventions on states.
        """
        from crosslens.training.checkpoint import save_model

        save_model(self, folder)

    def push_to_hub(
        self, repository: str, *, visibility: Literal["private", "public"] = "private", token: str | None = None
    ) -> str:
        """Upload the model, with its model card, to the Hugging Face hub.

        Args:
            repository: name on the hub, such as ``user/pos-1-2``; created if missing.
            visibility: of a new repository.
            token: access token; None: that of `hf auth login`.

        Returns:
            The address of the model.

        Raises:
            RequestError: offline; when the hub refuses; for a model with interventions on states.
            WorkError: when the hub cannot be reached.
        """
        from crosslens.training.checkpoint import push_model

        return push_model(self, repository, visibility=visibility, token=token)

    @property
    def computing_encoder(self) -> Encoder:
        """The encoder as it is trained and predicts: in the recipe's precision unless it has its own."""
        return (
            self.encoder
            if self.recipe.precision == "float32"
            else InPrecision(precision=self.recipe.precision).apply(self.encoder, seed=0)
        )

    @property
    def columns(self) -> dict[str, Any]:
        """Columns that describe the model in every record (`crosslens.results.record.Record`)."""
        facts, encoder = self.facts, self.encoder
        return {
            **encoder.condition.columns,
            "run": facts.get("run"),
            "task": self.task.name,
            "encoder": encoder.given_name,
            "encoder_digest": encoder.loaded_digest,
            "depth": encoder.depth,
            "state": "fine-tuned",
            "source": self.source,
            "seed": self.seed,
            **{name: facts.get(name) for name in ("train", "train_digest", "dev", "selection")},
            **recipe_columns(self.recipe, self.task),
        }

    @property
    def provenance(self) -> dict[str, str | int | float]:
        """Facts to store as tags of each record, except those in `NAMED`."""
        return {f"training_{name}": value for name, value in self.facts.items() if name not in NAMED}


def in_precision(model: TaskModel, precision: Precision | Literal["auto"] | None) -> TaskModel:
    """Return a model that predicts in another number format; see `crosslens.read_as`. None: unchanged.

    Raises:
        RequestError: for an unknown precision, or float32 if the recipe says bfloat16.
    """
    if precision is None:
        return model
    encoder = read_as(model.encoder, precision=precision)
    if precision == "float32" and model.recipe.precision != precision:
        raise RequestError(
            f"the model was trained with precision={model.recipe.precision}, in which it also predicts",
            hint="train with this precision as a condition (--precision), which can be changed later, not as a setting"
            " (--set precision)",
        )
    return replace(model, encoder=encoder)


def model_digest(encoder: Encoder, head: nn.Module) -> str:
    """Compute the SHA-256 digest of all weights, to check whether two training runs gave the same model."""
    named = sorted(head.state_dict().items())
    parts = ((name.encode(), tensor.detach().cpu().flatten().numpy().data) for name, tensor in named)
    return digest_chunks(chain([encoder.digest.encode()], *parts))


NAMED = frozenset(
    {
        "run",
        "train",
        "train_digest",
        "train_release",
        "dev",
        "dev_digest",
        "dev_language",
        "selection",
        "seconds",
        "encoder_digest",
        "weights",
    }
)
"""Facts that are not tags, because they have columns of their own or depend on names or the machine."""
