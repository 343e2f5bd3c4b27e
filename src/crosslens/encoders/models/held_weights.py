"""Hold weights in bfloat16 where no result depends on more, half the memory, or rounded to eight bits, a quarter.

Forward passes in bfloat16 round the weights of linear modules before every product. Weights that bfloat16 represents
exactly, as those of most published decoders, can be held in it: every product has the same bits. Other parameters
(embeddings, normalisations, biases) stay float32, because torch computes with them in float32.
"""

import copy
from collections.abc import Iterable
from typing import Any, TypeVar

import torch
from torch import nn

from crosslens.encoders.models.int8_weight import Int8Weight

Model = TypeVar("Model", bound=nn.Module)


def hold_in_bfloat16(model: nn.Module) -> None:
    """Hold the weights of linear modules in bfloat16, in place, if that changes none of their values.

    Weights that another kind of module uses too, such as tied embeddings, stay as they are.
    """
    for module in _linear_modules(model, model):
        weight = module.weight
        rounded = weight.data.to(torch.bfloat16)
        if torch.equal(rounded.to(weight.dtype), weight.data):
            weight.data = rounded


def hold_in_int8(layers: Iterable[nn.Module], model: nn.Module) -> list[nn.Linear]:
    """Round the weights of the linear modules in some layers to eight bits, in place; return these modules.

    Weights that another kind of module uses too stay as they are.
    """
    chosen = _linear_modules(nn.ModuleList(layers), model)
    rounded: dict[int, nn.Parameter] = {}
    for module in chosen:
        weight = module.weight
        if id(weight) not in rounded:  # one weight may be that of several modules
            rounded[id(weight)] = nn.Parameter(Int8Weight.rounded(weight), requires_grad=weight.requires_grad)
        module.weight = rounded[id(weight)]
    return chosen


def _linear_modules(part: nn.Module, model: nn.Module) -> list[nn.Linear]:
    """The linear modules in a part of a model whose weight no other kind of module of the model uses."""
    elsewhere = {
        id(parameter)
        for module in model.modules()
        if not isinstance(module, nn.Linear)
        for parameter in module.parameters(recurse=False)
    }
    linear = (module for module in part.modules() if isinstance(module, nn.Linear))
    return [module for module in linear if id(module.weight) not in elsewhere]


def hold_in_float32(parameters: Iterable[nn.Parameter]) -> None:
    """Hold parameters in float32 again, in place, because new values are to be written into them."""
    for parameter in parameters:
        if isinstance(parameter, Int8Weight):
            dense = nn.Parameter(parameter.dense(), requires_grad=parameter.requires_grad)
            torch.utils.swap_tensors(parameter, dense)
        elif parameter.dtype == torch.bfloat16:
            parameter.data = parameter.data.float()


def held_in_float32(model: Model) -> Model:
    """Return a model without parameters in bfloat16: itself, or a copy that shares all other parameters."""
    if all(parameter.dtype != torch.bfloat16 for parameter in model.parameters()):
        return model
    copied = copy_sharing(model, model.parameters())
    hold_in_float32(parameter for parameter in copied.parameters() if parameter.dtype == torch.bfloat16)
    return copied


def without_int8(model: Model) -> Model:
    """Return a model without weights in eight bits, for a file: itself, or a copy that shares all other parameters."""
    if not has_int8(model):
        return model
    copied = copy_sharing(model, model.parameters())
    hold_in_float32(parameter for parameter in copied.parameters() if isinstance(parameter, Int8Weight))
    return copied


def has_int8(model: nn.Module) -> bool:
    """Whether a model has weights in eight bits."""
    return any(isinstance(parameter, Int8Weight) for parameter in model.parameters())


def copy_sharing(module: Model, parameters: Iterable[nn.Parameter]) -> Model:
    """Copy a module; the copy shares the memory of some of its parameters."""
    shared: dict[int, Any] = {
        id(each): nn.Parameter(each.detach(), requires_grad=each.requires_grad) for each in parameters
    }
    return copy.deepcopy(module, shared)
