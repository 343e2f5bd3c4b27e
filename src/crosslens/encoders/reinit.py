"""RANDOM-INIT: re-initialise chosen layers of an encoder (Muller et al. 2021, section 2.1).

The architecture's own initialisers silently do nothing on a loaded model, because every loaded module is marked as
initialised. So each layer is initialised on an unmarked copy that is filled with NaN first: a NaN that remains shows a
parameter that the initialiser does not cover.
"""

import copy
from dataclasses import replace
from typing import get_args

import torch
from torch import nn

from crosslens.digests import stream_seed
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.reinit import Components, Init, Reinit
from crosslens.encoders.layers import format_layers, parse_layers
from crosslens.errors import EncoderError, suggest

_ATTENTION = {"attention", "attentions", "attn", "self_attn", "SelfAttention", "rel_attn"}
_MARK = "_is_hf_initialized"


def random_init(
    encoder: Encoder,
    layers: str | int | tuple[int, ...],
    *,
    seed: int,
    components: Components = "all",
    init: Init = "architecture",
) -> Encoder:
    """A copy of an encoder with some layers drawn anew (RANDOM-INIT; Muller et al. 2021, section 2.1).

    The same seed gives a layer the same bits, whatever else is drawn: ``1`` and ``1-2`` have the same layer 1. The
    global random generator is not moved.

    Args:
        encoder: left as it is.
        layers: ``1-2``, ``all`` (every layer, embeddings kept), ``0`` (the embeddings), ``0,all`` (everything, also
            what belongs to no layer: from scratch). What layers share, such as mT5's table of relative positions, is
            re-initialised with everything only.
        seed: of the drawing.
        components: which parts of those layers: their attention, their feed-forward part, their normalisations, or
            for layer 0 the embeddings.
        init: ``architecture``: as the architecture initialises itself; ``torch``: as PyTorch initialises its modules,
            uniform and with random biases, which is what the paper's published loader does (its text does not say).

    Returns:
        The copy; its last change lists the tensors drawn, and those that the layers share.

    Raises:
        EncoderError: for layers that are not there, components that are none, or a choice that matches no tensor.
    """
    for value, known, what in ((components, Components, "component"), (init, Init, "init")):
        if value not in get_args(known):
            raise EncoderError(f"unknown {what} {value!r}", hint=suggest(value, get_args(known)))
    chosen = parse_layers(layers, encoder.depth)
    model = copy.deepcopy(encoder.model)
    copied = replace(encoder, model=model)
    changed: list[str] = []
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for layer in chosen:
        if layer:
            part = copied.layers[layer - 1]
            drawn = _draw_layer(model, part, stream_seed(seed, "random-init", layer), init)
            pairs = [(p, drawn[name]) for name, p in copied.own(layer).items() if _matches(part, name, components)]
        else:
            everything = set(chosen) == set(range(encoder.depth + 1))
            drawn = _draw_whole(model, stream_seed(seed, "random-init", 0), init)
            outside = copied.outside(everything=everything) if components in ("all", "embeddings") else {}
            pairs = [(p, drawn[name]) for name, p in outside.items()]
        with torch.no_grad():
            for parameter, fresh in pairs:
                parameter.copy_(fresh)
                changed.append(names[id(parameter)])
    if not changed:
        raise EncoderError(
            f"layers {format_layers(chosen)} of this {encoder.family.name} encoder have no {components} parameters",
            hint="embeddings are layer 0; attention, ffn and norms are in layers 1 and up",
        )
    done = Reinit(layers=format_layers(chosen), components=components, init=init)
    return copied.changed(Change(done, seed, tuple(changed), copied.shared_names(chosen)), since=encoder)


def untrained_pair(source: Encoder, target: Encoder, *, seed: int) -> tuple[Encoder, Encoder]:
    """Both encoders of a pair with every parameter re-initialised, independently of one another.

    Two encoders of one seed would have equal layers, and equal vectors for the n-th subwords of their vocabularies:
    more in common than encoders that were pretrained independently.

    Args:
        source: reads the first language.
        target: reads the second; the same encoder where it reads both, and then the same one is returned twice.
        seed: of both.
    """
    first = random_init(source, "0,all", seed=seed)
    if target is source:
        return first, first
    return first, random_init(target, "0,all", seed=stream_seed(seed, "untrained target"))


def _matches(part: nn.Module, name: str, components: Components) -> bool:
    """Whether a parameter of a layer belongs to these components of it."""
    if components == "all":
        return True
    path, _, _ = name.rpartition(".")
    if "norm" in type(part.get_submodule(path)).__name__.lower():
        return components == "norms"
    return components == ("attention" if _ATTENTION & set(path.split(".")) else "ffn")


def _draw_layer(model: nn.Module, layer: nn.Module, seed: int, init: Init) -> dict[str, torch.Tensor]:
    """Fresh values of one layer's parameters, by name; drawn on the CPU in float32, whatever the model is in.

    Children first, parents last over the whole layer, as the library does: parents overwrite what children drew.
    """
    twin = copy.deepcopy(layer).to("cpu", torch.float32)
    for marked in (*twin.parameters(), *twin.buffers(), *twin.modules()):
        vars(marked).pop(_MARK, None)  # pyright: ignore[reportAttributeAccessIssue]
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.default_generator.manual_seed(seed)
        for parameter in twin.parameters():
            parameter.fill_(float("nan"))
        twin.apply(_reset if init == "torch" else model._init_weights)  # pyright: ignore
    return _proven(dict(twin.named_parameters()))


def _draw_whole(model: nn.Module, seed: int, init: Init) -> dict[str, torch.Tensor]:
    """Fresh values of a whole model's parameters: what lies outside the layers is initialised by its parents."""
    if init == "torch":
        return _draw_layer(model, model, seed, init)
    config = copy.deepcopy(model.config)  # a configuration is shared, not copied, and building changes it
    extra = {"add_pooling_layer": False} if getattr(model, "pooler", 0) is None else {}
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        fresh = type(model)(config, **extra).to("cpu", torch.float32)
    return _proven(dict(fresh.named_parameters()))


def _reset(module: nn.Module) -> None:
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()  # pyright: ignore[reportCallIssue]
    elif "norm" in type(module).__name__.lower():  # the architectures' own normalisations have no reset of torch's
        for name, parameter in module.named_parameters(recurse=False):
            parameter.fill_(1.0 if name == "weight" else 0.0)


def _proven(drawn: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    for name, value in drawn.items():
        if not torch.isfinite(value).all():
            raise EncoderError(f"cannot re-initialise {name}: the architecture has no initialiser for it")
    return drawn
