"""Description of a run for ``run.json``."""

import platform
from typing import Any

import torch
import transformers

from crosslens import __version__
from crosslens.training.identity import run_id, training_identity
from crosslens.training.model import TaskModel
from crosslens.training.recipe import differing


def describe_run(model: TaskModel) -> dict[str, Any]:
    """Describe a run for ``run.json``: identity and run id, changes to the encoder, facts, versions and machine."""
    facts, encoder = dict(model.facts), model.encoder
    dev_language = str(facts["dev_language"]) if "dev_language" in facts else None
    identity = training_identity(
        encoder=encoder.loaded_digest,
        condition=encoder.condition,
        seed=model.seed,
        task=model.task,
        recipe=model.recipe,
        train=str(facts["train_digest"]),
        dev=str(facts["dev_digest"]) if "dev_digest" in facts else None,
        drawn=[change.seed for change in encoder.changes if change.seed is not None],
        languages=(model.source, dev_language) if encoder.language_specific else None,
    )
    changes = encoder.changes
    return {
        "run": run_id(identity),
        "identity": identity,
        "differs_from_usual": differing(model.recipe, model.task),
        "changed_tensors": {change.intervention.label: list(change.tensors) for change in changes},
        "shared_tensors": {change.intervention.label: list(change.shared) for change in changes if change.shared},
        "facts": facts,
        "encoder": model.encoder.given_name,
        "source": model.source,
        "labels": list(model.labels),
        "versions": {
            "crosslens": __version__,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "python": platform.python_version(),
        },
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "device": str(model.encoder.device),
            "threads": torch.get_num_threads(),
        },
    }
