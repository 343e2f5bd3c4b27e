"""Fine-tuned models on disk: a Hugging Face folder with the task head (safetensors) and a JSON description."""

import copy
import dataclasses
import json
from collections.abc import Mapping
from operator import index
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import huggingface_hub
import numpy as np
import safetensors
import safetensors.torch
import torch
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalTokenNotFoundError
from pydantic import ValidationError
from torch import nn
from transformers import AutoModelForTokenClassification, PreTrainedModel

from crosslens import __version__
from crosslens.checksums import write_checksums
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.features import Features
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.load import DESCRIPTION, load_encoder, quiet, save_tokenizers
from crosslens.encoders.models.held_weights import without_int8
from crosslens.encoders.readouts.transformer import TransformerReadout, as_tower, rotated
from crosslens.environment import offline, to_go_online
from crosslens.errors import EncoderError, RequestError, WorkError, suggest_beside
from crosslens.files import is_refusal, new_folder
from crosslens.tasks import Task, find_task
from crosslens.tasks.heads.linear import LinearHead
from crosslens.tasks.tagging import Tagging
from crosslens.training.model import TaskModel
from crosslens.training.model_card import CARD, model_card
from crosslens.training.recipe import Recipe

HEAD = "head.safetensors"
READOUT = "features.safetensors"
TRAINED_ON = "trained_on.npy"
FORMAT = 2

_CONNECTION: tuple[type[Exception], ...] = HfHubHTTPError.__bases__  # pyright: ignore[reportAssignmentType]
"""OSError and the base of all errors of the hub's HTTP client, which differs between versions of huggingface_hub."""

_DAMAGE = (
    KeyError,
    TypeError,
    ValueError,
    EOFError,
    OSError,
    RuntimeError,
    ValidationError,
    safetensors.SafetensorError,
)
"""Errors from reading a damaged folder."""


def save_model(model: TaskModel, folder: str | Path) -> None:
    """Save a model to a new folder, atomically.

    A model read back by `load_model` makes the same predictions. Where the architecture's token classifier is a single
    linear layer, plain `transformers` loads a tagger too, with ``AutoModelForTokenClassification``; the model card,
    ``README.md``, shows how, or explains why not.

    Args:
        model: the fine-tuned model to save.
        folder: a new folder; `load_model` reads it.

    Raises:
        RequestError: when the folder already exists, or for a model with interventions on states.

    Examples:
        >>> xl.save_model(tagger, folder / "tagger")
        >>> sorted(file.name for file in (folder / "tagger").glob("*.json"))
        ['config.json', 'crosslens.json', 'tokenizer.json', 'tokenizer_config.json']
    """
    model.encoder.refuse_edited()
    description = {
        "format": FORMAT,
        "crosslens": __version__,
        "task": model.task.name,
        "task_settings": model.task.settings,
        "labels": list(model.labels),
        "recipe": model.recipe.model_dump(mode="json"),
        "source": model.source,
        "seed": model.seed,
        "facts": dict(model.facts),
        "encoder": model.encoder.name,
        "origin": model.encoder.origin,
        "changes": [
            {**change.intervention.plain, "seed": change.seed, "tensors": change.tensors, "shared": change.shared}
            for change in model.encoder.changes
        ],
    }
    with new_folder(folder) as partial, quiet():
        classifier = _token_classifier(model)
        (classifier if classifier is not None else without_int8(model.encoder.model)).save_pretrained(partial)
        save_tokenizers(model.encoder.tokenizer, model.encoder.tokenizers, partial)
        for module, name in ((model.head, HEAD), (model.encoder.readout, READOUT)):
            if module is not None:
                weights = {key: tensor.detach().cpu().contiguous() for key, tensor in module.state_dict().items()}
                safetensors.torch.save_file(weights, partial / name)
        if model.trained_on is not None:
            np.save(partial / TRAINED_ON, np.array(sorted(model.trained_on), np.uint64))
        text = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False, default=index)
        (partial / DESCRIPTION).write_text(text + "\n", "utf-8")
        (partial / CARD).write_text(model_card(model, exported=classifier is not None), "utf-8")
        write_checksums(partial)


def push_model(
    model: TaskModel, repository: str, *, visibility: Literal["private", "public"] = "private", token: str | None = None
) -> str:
    """Upload a model to the Hugging Face hub; see `TaskModel.push_to_hub`."""
    if offline():
        raise RequestError("no upload to the hub: network access is switched off", hint=to_go_online())
    api = huggingface_hub.HfApi(token=token)
    with TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model")
        try:
            created = api.create_repo(repository, private=visibility == "private", exist_ok=True)
            api.upload_folder(
                repo_id=created.repo_id,
                folder_path=str(Path(folder) / "model"),
                # of another model in this repository, which this one would be read with
                delete_patterns=[READOUT, TRAINED_ON],
                commit_message=f"Model fine-tuned with crosslens {__version__}",
            )
        except (HfHubHTTPError, HFValidationError, LocalTokenNotFoundError) as error:
            hint = "`hf auth login` stores a token; the name is USER/MODEL"
            raise RequestError(f"the hub refused {repository}: {_first_line(error)}", hint=hint) from None
        except _CONNECTION as error:
            reason = f"{repository} cannot be uploaded: {_first_line(error)}"
            raise WorkError(reason, hint="check the network connection") from None
    return str(created)


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def is_model(folder: str | Path) -> bool:
    """Whether `save_model` wrote the folder."""
    return (Path(folder) / DESCRIPTION).is_file()


def load_model(folder: str | Path, *, task: Task | None = None, device: str | torch.device | None = None) -> TaskModel:
    """Load a model that `save_model` wrote.

    Args:
        folder: folder of the model.
        task: the model's task, needed only when it is neither built in nor a plug-in; its settings are in the folder.
        device: device to load to; None: a GPU if available.

    Returns:
        The fine-tuned model, in evaluation mode.

    Raises:
        EncoderError: for a folder that is missing or damaged, or was not written by `save_model`.
        OSError: when the operating system refuses to read a file.
        RequestError: for a model of an unknown task, or of a task other than ``task``.

    Examples:
        >>> xl.save_model(tagger, folder / "model")
        >>> xl.load_model(folder / "model", device="cpu").labels == tagger.labels
        True
    """
    folder = Path(folder)
    if not is_model(folder):
        reason = "is a file and not a folder" if folder.exists() else "does not exist"
        reason = f"has no {DESCRIPTION}" if folder.is_dir() else reason
        hint = "create one with `crosslens finetune … --keep-model`"
        if is_model(folder / "model"):
            hint = f"did you mean {folder / 'model'}?"
        elif not folder.exists():
            hint = suggest_beside(folder, otherwise=hint)
        raise EncoderError(f"{folder} {reason}, so it is not a model fine-tuned by crosslens", hint=hint)
    try:
        description = json.loads((folder / DESCRIPTION).read_text("utf-8"))
        if description["format"] != FORMAT:
            raise EncoderError(f"{folder} has format {description['format']}, but this version reads format {FORMAT}")
        task = _saved_task(description["task"], description.get("task_settings") or {}, task)
        recipe = Recipe.model_validate(description["recipe"])
        labels = tuple(description["labels"])
        changes = tuple(map(_read_change, description["changes"]))
        condition = Condition.of(tuple(change.intervention for change in changes))
        encoder = load_encoder(folder, precision=condition.precision, device=device)
        if (folder / READOUT).exists():
            encoder = _with_readout(encoder, changes, safetensors.torch.load_file(folder / READOUT))
        encoder = dataclasses.replace(
            encoder, name=description["encoder"], origin=description["origin"], changes=changes, trained_since=True
        )
        with torch.random.fork_rng(devices=[]):  # all initial weights are replaced
            head = task.head(encoder.output_width, labels, dropout=recipe.head_dropout)
        head.load_state_dict(safetensors.torch.load_file(folder / HEAD))
        facts = dict(description["facts"])
        source, seed = description["source"], description["seed"]
        trained_on = frozenset(np.load(folder / TRAINED_ON).tolist()) if (folder / TRAINED_ON).exists() else None
    except _DAMAGE as error:
        if is_refusal(error):
            raise
        reason = (str(error).splitlines() or [""])[0]
        raise EncoderError(
            f"{folder} is damaged: {type(error).__name__}: {reason}", hint="fine-tune the model again"
        ) from None
    return TaskModel(encoder, task, head.to(encoder.device).eval(), labels, recipe, source, seed, facts, trained_on)


def as_model(model: TaskModel | str | Path) -> TaskModel:
    """Return a model, loaded from its folder unless it is one already.

    Raises:
        RequestError: for another object, such as an encoder without a task head.
        EncoderError: see `load_model`.
    """
    if isinstance(model, TaskModel):
        return model
    if not isinstance(model, str | Path):
        raise RequestError(
            f"a fine-tuned model or its folder is needed, not the type {type(model).__name__}",
            hint="xl.finetune trains one; xl.load_model loads one from its folder",
        )
    return load_model(model)


def _read_change(described: dict[str, Any]) -> Change:
    keys = {key: value for key, value in described.items() if key not in ("seed", "tensors", "shared")}
    (intervention,) = Condition.model_validate(keys).interventions
    return Change(intervention, described["seed"], tuple(described["tensors"]), tuple(described.get("shared", ())))


def _saved_task(name: str, settings: Mapping[str, Any], task: Task | None) -> Task:
    """Return the task of a saved model, by name unless the caller passes the task."""
    if task is None:
        return find_task(name, settings)
    if task.name != name:
        raise RequestError(f"the model was fine-tuned for {name!r}, not for {task.name!r}")
    return type(task)(**settings)


def _with_readout(encoder: Encoder, changes: tuple[Change, ...], weights: dict[str, torch.Tensor]) -> Encoder:
    """Add the saved readout to an encoder."""
    interventions = (change.intervention for change in changes)
    intervention = next((each for each in interventions if isinstance(each, Features | OnOneLayer)), None)
    if intervention is None:
        raise ValueError(f"{READOUT} belongs to none of the changes")
    if isinstance(intervention, OnOneLayer):
        encoder = as_tower(encoder, intervention.layer, seed=0, height=intervention.height)
        assert isinstance(encoder.readout, TransformerReadout)
        encoder = dataclasses.replace(encoder, readout=rotated(encoder.readout, weights["means"], weights["matrix"]))
    else:
        encoder = intervention.apply(encoder, seed=0)
    assert encoder.readout is not None
    encoder.readout.load_state_dict(weights)
    return encoder


def _token_classifier(model: TaskModel) -> PreTrainedModel | None:
    """Convert to a transformers token classifier, if the architecture has one with a single linear layer."""
    if not isinstance(model.task, Tagging) or model.encoder.readout is not None or model.encoder.reading.label:
        return None
    config = copy.deepcopy(model.encoder.model.config)
    config.id2label = dict(enumerate(model.labels))
    config.label2id = {label: number for number, label in enumerate(model.labels)}
    config.classifier_dropout = model.recipe.head_dropout
    with torch.random.fork_rng(devices=[]):  # all initial weights are replaced below
        try:
            classifier = AutoModelForTokenClassification.from_config(config)
        except ValueError:  # the architecture has no token classifier
            return None
    base = f"{classifier.base_model_prefix}."
    head_parameters = {name for name, _ in classifier.named_parameters() if not name.startswith(base)}
    head = min(head_parameters, default="").rpartition(".")[0]  # ``classifier``, or ``score`` in decoders
    linear = {f"{head}.weight", f"{head}.bias"}
    if head_parameters != linear or not isinstance(classifier.get_submodule(head), nn.Linear):
        return None
    encoder = model.encoder.model.state_dict()
    if set(encoder) != set(classifier.base_model.state_dict()):
        return None
    classifier.base_model.load_state_dict(encoder)
    assert isinstance(model.head, LinearHead)
    classifier.get_submodule(head).load_state_dict(model.head.classifier.state_dict())
    return classifier
