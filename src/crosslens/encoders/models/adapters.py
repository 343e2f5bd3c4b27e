"""Low-rank updates of encoders: their training, and the folders that PEFT reads and writes."""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from crosslens.digests import stream_seed
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.models.held_weights import copy_sharing, hold_in_float32
from crosslens.encoders.models.int8_weight import Int8Weight
from crosslens.encoders.models.lora import Lora, require_peft
from crosslens.encoders.models.quantize import Quantize
from crosslens.errors import EncoderError, RequestError
from crosslens.files import new_folder
from crosslens.initial_weights import initial_weights

ADAPTER = "adapter_config.json"
"""File of a folder that PEFT wrote."""


def add_lora(
    encoder: Encoder,
    rank: int,
    *,
    layers: str | int = "all",
    components: Literal["all", "attention", "ffn"] = "all",
    alpha: float | None = None,
) -> Encoder:
    """Let fine-tuning train a low-rank update in place of the encoder's own parameters (LoRA; Hu et al. 2022).

    Needs PEFT. After training, the update is part of the weights; `save_lora` writes it as PEFT reads it.

    Args:
        encoder: not modified.
        rank: rank of the update.
        layers: layers whose linear modules are updated.
        components: parts of those layers.
        alpha: factor of the update, divided by the rank; None: the rank, so that the factor is 1.

    Returns:
        A copy that shares the model, for `finetune`.

    Raises:
        EncoderError: for layers that the encoder does not have, or without linear modules; for a second update.
        RequestError: if PEFT is not installed, or for an invalid rank, part or factor.
    """
    require_encoder(encoder)
    keys = {"lora": rank, "lora_layers": layers, "lora_components": components, "lora_alpha": alpha}
    (lora,) = Condition.read({key: value for key, value in keys.items() if value is not None}).interventions
    return lora.scaled(written_for=None, depth=encoder.depth).apply(encoder, seed=0)


def copy_to_train(encoder: Encoder) -> Encoder:
    """Copy what training may change of an encoder, in float32; the copy shares the memory of frozen parameters.

    With a low-rank update all are frozen. A large encoder is then in memory once, not twice.
    """
    if encoder.condition.find(Lora) is not None:
        model = copy_sharing(encoder.model, encoder.model.parameters())
    else:
        model = copy_sharing(encoder.model, _frozen(encoder.model))
        hold_in_float32(parameter for parameter in model.parameters() if parameter.requires_grad)
    readout = encoder.readout
    if readout is not None:
        readout = copy_sharing(readout, _frozen(readout))
    return replace(encoder, model=model, readout=readout)


def _frozen(module: nn.Module) -> Iterator[nn.Parameter]:
    return (parameter for parameter in module.parameters() if not parameter.requires_grad)


def begin_update(encoder: Encoder, *, seed: int) -> None:
    """Add the update of an encoder's condition to its model, and freeze all other parameters; nothing without one."""
    lora = encoder.condition.find(Lora)
    if lora is None:
        return
    from peft import inject_adapter_in_model

    with initial_weights(stream_seed(seed, "lora")), _shown_as_float32(encoder.model):
        inject_adapter_in_model(lora.config(encoder), encoder.model)
    for name, parameter in encoder.model.named_parameters():
        parameter.requires_grad_(".lora_" in name)


@contextmanager
def _shown_as_float32(model: nn.Module) -> Iterator[None]:
    """Show float32 zeros, which take no memory, for weights in bfloat16, because PEFT copies their number format."""
    held = [(parameter, parameter.data) for parameter in model.parameters() if parameter.dtype == torch.bfloat16]
    for parameter, data in held:
        parameter.data = data.new_zeros((), dtype=torch.float32).expand(data.shape)
    try:
        yield
    finally:
        for parameter, data in held:
            parameter.data = data


def end_update(encoder: Encoder) -> None:
    """Add a trained update to the weights, and make the model what it was before `begin_update`.

    The sum has the number format of the weight, to which each forward pass would round it. Beside a weight in eight
    bits, the update is kept as it is.
    """
    if encoder.condition.find(Lora) is None:
        return
    from peft.tuners.lora import LoraLayer

    for name, module in list(encoder.model.named_modules()):
        if isinstance(module, LoraLayer):
            layer: Any = module
            linear = layer.get_base_layer()
            if isinstance(linear.weight, Int8Weight):
                linear.weight = nn.Parameter(_updated(linear.weight, layer), requires_grad=False)
            else:
                linear.weight = nn.Parameter(linear.weight.detach().clone(), requires_grad=False)  # may be shared
                layer.merge()
            encoder.model.set_submodule(name, linear)
    for attribute in ("peft_config", "_hf_peft_config_loaded"):
        vars(encoder.model).pop(attribute, None)


def _updated(weight: Int8Weight, layer: Any) -> Int8Weight:
    """Return a weight in eight bits with the trained update of PEFT's layer."""
    (name,) = layer.scaling
    left, right = (matrices[name].weight.detach() for matrices in (layer.lora_B, layer.lora_A))
    return weight.updated(left * layer.scaling[name], right)


def save_lora(encoder: Encoder, folder: str | Path, *, pretrained: Encoder | None = None) -> None:
    """Write the low-rank update of a fine-tuned encoder as PEFT reads it, in ``adapter_model.safetensors``.

    The update is the difference to the pretrained weights, factorised by its singular value decomposition.

    Args:
        encoder: encoder of a model that was fine-tuned with `Lora`, such as ``tagger.encoder``.
        folder: new folder, for ``peft.PeftModel.from_pretrained`` and `load_encoder`.
        pretrained: encoder that the update is relative to; None: load it by its name.

    Raises:
        RequestError: for an encoder without an update or with other changed weights; if the folder exists, or PEFT is
            not installed.
        EncoderError: if the pretrained encoder is not the one that training began with.
    """
    require_peft()
    from peft import get_peft_model

    from crosslens.encoders.load import load_encoder, quiet

    lora = encoder.condition.find(Lora)
    if lora is None:
        raise RequestError(f"{encoder.name} was not fine-tuned with a low-rank update", hint="train with --lora 8")
    pretrained = pretrained or load_encoder(encoder.name, device="cpu")
    if pretrained.digest != encoder.loaded_digest:
        raise EncoderError(f"{pretrained.name} is not the encoder that training began with", hint="pass pretrained=")
    if (quantize := encoder.condition.find(Quantize)) is not None:
        pretrained = quantize.apply(pretrained, seed=0)
    targets = {f"{name}.weight" for name in lora.targets(pretrained)}
    before, after = (dict(each.model.named_parameters()) for each in (pretrained, encoder))
    for name, value in after.items():
        if name not in targets and not torch.equal(value.cpu(), before[name].cpu()):
            raise RequestError(
                f"{name} was changed too, outside of the low-rank update",
                hint="save the whole model, with crosslens.save_model",
            )
    config = lora.config(pretrained)
    with new_folder(folder) as partial, quiet(), torch.random.fork_rng(devices=[]):
        adapted = get_peft_model(copy.deepcopy(pretrained.model), config)
        modules = dict(adapted.base_model.model.named_modules())
        for name in sorted(targets):
            module: Any = modules[name.removesuffix(".weight")]
            difference = (after[name].double().cpu() - before[name].double().cpu()) * config.r / config.lora_alpha
            left, values, right = torch.linalg.svd(difference, full_matrices=False)
            root = values[: config.r].sqrt()
            rank = len(root)
            with torch.no_grad():
                module.lora_A["default"].weight.zero_()[:rank] = root[:, None] * right[:rank]
                module.lora_B["default"].weight.zero_()[:, :rank] = left[:, :rank] * root
        adapted.save_pretrained(partial)


def adapted_encoder(folder: str | Path) -> str | None:
    """Return the name of the encoder that a folder of PEFT's was made for; None for any other folder or a hub name.

    Raises:
        EncoderError: if the folder is damaged.
    """
    file = Path(folder) / ADAPTER
    if not file.is_file():
        return None
    try:
        settings = json.loads(file.read_text("utf-8"))
        name, revision = str(settings["base_model_name_or_path"]), settings.get("revision")
        return f"{name}@{revision}" if revision and not Path(name).exists() else name
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EncoderError(f"{folder}: cannot read the adapter: {error}") from None


def with_adapter(folder: str | Path, *, revision: str | None = None) -> Encoder:
    """Load the encoder that a folder of PEFT's was made for on the CPU, and add its low-rank update to the weights.

    Updates of models with a task head are read too; the head is not.

    Raises:
        EncoderError: if the folder is damaged or does not fit the encoder.
        RequestError: if PEFT is not installed.
    """
    require_peft()
    from peft import PeftConfig, get_peft_model, load_peft_weights, set_peft_model_state_dict

    from crosslens.encoders.load import load_encoder, quiet

    try:
        config: Any = PeftConfig.from_pretrained(str(folder))
        weights = load_peft_weights(str(folder), device="cpu")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EncoderError(f"{folder}: cannot read the adapter: {error}") from None
    if config.is_prompt_learning:
        raise EncoderError(
            f"{folder}: {config.peft_type.value} lets an encoder read trained vectors beside the text, and changes no"
            " weight",
            hint="use an adapter of weights, such as LoRA",
        )
    base = str(config.base_model_name_or_path)
    trained_on = None if Path(base).exists() else config.revision  # a folder has none
    if trained_on and revision not in (None, trained_on):
        raise EncoderError(
            f"{folder} was trained on {base} in revision {trained_on}, not {revision}", hint="leave out the revision"
        )
    encoder = load_encoder(base, revision=trained_on or revision, device="cpu")
    start = "base_model.model."
    with_head = f"{start}{encoder.model.base_model_prefix}."
    of_encoder = {
        f"{start}{name.removeprefix(with_head).removeprefix(start)}": value for name, value in weights.items()
    }
    config.task_type, config.modules_to_save, config.inference_mode = None, None, False
    adapted: Any = None
    with quiet():
        try:
            adapted = get_peft_model(encoder.model, config)
            result = set_peft_model_state_dict(adapted, of_encoder)
            mark = f".{adapted.base_model.prefix}"  # in the names of the adapter's tensors
            misfits = [name for name in (*result.missing_keys, *result.unexpected_keys) if mark in name]
        except (ValueError, RuntimeError) as error:  # no such modules, or modules of other sizes
            misfits = [str(error).splitlines()[-1].strip()]
    if misfits:
        raise EncoderError(
            f"{folder}: its update does not fit the encoder {base}: {misfits[0]}",
            hint="load it with the encoder that it was trained on",
        )
    merged = adapted.merge_and_unload()
    for parameter in merged.parameters():
        parameter.requires_grad_(True)
    return replace(encoder, model=merged.eval(), name=str(folder))
