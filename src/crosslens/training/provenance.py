"""What determines a run, and what it ran on, as JSON."""

import platform
from typing import Any

import torch
import transformers

from crosslens import __version__
from crosslens.identity import digest
from crosslens.training.model import TaskModel
from crosslens.training.recipe import differing


def describe_run(model: TaskModel) -> dict[str, Any]:
    """``run.json``: the identity (what determines the weights), its digest, and where and how long it ran."""
    facts = dict(model.facts)
    determined_by = ("encoder_digest", "train_digest", "dev_digest", "semantics")
    identity = {
        "task": model.task.name, "task_settings": model.task.settings, "seed": model.seed,
        "recipe": model.recipe.model_dump(mode="json", exclude={"name"}),
        "changes": [[c.kind, c.layers, c.components, c.init, c.seed] for c in model.encoder.changes],
        **{name: facts[name] for name in determined_by if name in facts},
    }  # fmt: skip
    return {
        "run": digest(identity), "identity": identity,
        "differs_from_usual": differing(model.recipe, model.task),
        "changed_tensors": {f"{c.kind} {c.layers}": list(c.tensors) for c in model.encoder.changes},
        "facts": facts, "encoder": model.encoder.name, "source": model.source, "labels": list(model.labels),
        "versions": {
            "crosslens": __version__, "torch": torch.__version__, "transformers": transformers.__version__,
            "python": platform.python_version(),
        },
        "machine": {
            "system": platform.platform(), "processor": platform.machine(),
            "device": str(model.encoder.device), "threads": torch.get_num_threads(),
        },
    }  # fmt: skip
