"""RANDOM-INIT: re-initialise chosen layers of an encoder (Muller et al. 2021, section 2.1).

The initialisers of transformers silently do nothing on a loaded model, because every loaded module is marked as
initialised. Each layer is therefore initialised on an unmarked copy filled with NaN: any NaN left shows a parameter
that the initialiser does not cover.
"""

import copy
from dataclasses import replace
from typing import Any, get_args

import torch
from torch import nn

from crosslens.digests import require_seed, stream_seed
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.reinit import Components, Init, Reinit
from crosslens.encoders.layers import format_layers, parse_layers
from crosslens.encoders.models.held_weights import hold_in_float32
from crosslens.errors import EncoderError, require_known
from crosslens.initial_weights import initial_weights

_ATTENTION = {"attention", "attentions", "attn", "self_attn", "SelfAttention", "rel_attn"}
_MARK = "_is_hf_initialized"


def random_init(
    encoder: Encoder,
    layers: str | int | tuple[int, ...],
    *,
    seed: int = 1,
    components: Components = "all",
    init: Init = "architecture",
) -> Encoder:
    """Re-initialise the parameters of chosen layers (RANDOM-INIT; Muller et al. 2021, section 2.1).

    A layer's new values depend only on the seed and its number: ``1`` and ``1-2`` give the same layer 1. The global
    random generator is not changed.

    Args:
        encoder: not modified.
        layers: ``1-2``, ``all`` (every layer, embeddings kept), ``0`` (the embeddings), or ``0,all`` (every parameter:
            an untrained encoder). Parameters shared between layers, such as mT5's relative positions, are
            re-initialised only with ``0,all``.
        seed: random seed.
        components: parts of those layers: ``all``, ``attention``, feed-forward (``ffn``), normalisations (``norms``),
            or for layer 0 ``embeddings``.
        init: ``architecture``: initialisers of the architecture; ``torch``: PyTorch's default initialisers, uniform
            and with random biases, as in the paper's published loader (the paper does not specify them).

    Returns:
        A copy whose last change lists the re-initialised tensors and those shared between layers.

    Raises:
        EncoderError: for layers that are invalid or do not exist, an unknown component or ``init``, or a
            selection without tensors.
        RequestError: for an invalid seed.

    Examples:
        >>> ablated = xl.random_init(encoder, "1-2", seed=1)
        >>> ablated.condition.label, len(ablated.changes[-1].tensors)
        ('1-2', 32)
    """
    require_encoder(encoder)
    seed = require_seed(seed)
    for value, choices, setting in ((components, Components, "component"), (init, Init, "init")):
        require_known(value, get_args(choices), f"unknown {setting}", error=EncoderError)
    chosen = parse_layers(layers, encoder.depth)
    model = copy.deepcopy(encoder.model)
    everything = set(chosen) == set(range(encoder.depth + 1))
    copied = replace(encoder, model=model)
    if everything and components == "all":  # nothing is left of a fine-tuning
        copied = replace(copied, task=None, trained_since=False)
    changed: list[str] = []
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    for layer in chosen:
        if layer:
            module = copied.layers[layer - 1]
            values = _initialised_layer(model, module, stream_seed(seed, "random-init", layer), init)
            pairs = [
                (p, values[name]) for name, p in copied.own(layer).items() if in_component(module, name, components)
            ]
        else:
            values = _initialised_model(model, stream_seed(seed, "random-init", 0), init)
            outside = copied.outside(everything=everything) if components in ("all", "embeddings") else {}
            pairs = [(p, values[name]) for name, p in outside.items()]
        with torch.no_grad():
            hold_in_float32(parameter for parameter, _ in pairs)
            for parameter, fresh in pairs:
                parameter.copy_(fresh)
                changed.append(names[id(parameter)])
    if not changed:
        raise EncoderError(
            f"layers {format_layers(chosen)} of this {encoder.family.name} encoder have no {components} parameters",
            hint="embeddings are layer 0; attention, ffn and norms are in layers 1 and up",
        )
    intervention = Reinit(layers=format_layers(chosen), components=components, init=init)
    return copied.changed(Change(intervention, seed, tuple(changed), copied.shared_names(chosen)), since=encoder)


def untrained_pair(source: Encoder, target: Encoder, *, seed: int) -> tuple[Encoder, Encoder]:
    """Re-initialise every parameter of two encoders independently.

    With the same seed, both would have identical layers and identical vectors for the n-th subword of each vocabulary,
    and thus be more similar than independently pretrained encoders.

    Args:
        target: encoder of the second language; if it is ``source`` itself, one untrained encoder is returned twice.
        seed: random seed from which both encoders derive theirs.
    """
    first = random_init(source, "0,all", seed=seed)
    if target is source:
        return first, first
    return first, random_init(target, "0,all", seed=stream_seed(seed, "untrained target"))


def in_component(layer: nn.Module, name: str, components: Components) -> bool:
    """Whether a parameter of a layer belongs to the chosen components."""
    if components == "all":
        return True
    path, _, _ = name.rpartition(".")
    if "norm" in type(layer.get_submodule(path)).__name__.lower():
        return components == "norms"
    return components == ("attention" if _ATTENTION & set(path.split(".")) else "ffn")


def _initialised_layer(model: nn.Module, layer: nn.Module, seed: int, init: Init) -> dict[str, torch.Tensor]:
    """Initialise a copy of one layer on the CPU in float32 and return its parameters by name.

    As in transformers, modules are initialised before the modules that contain them, which may overwrite their values.
    """
    copied = copy.deepcopy(layer).to("cpu", torch.float32)
    hold_in_float32(copied.parameters())
    for marked in (*copied.parameters(), *copied.buffers(), *copied.modules()):
        vars(marked).pop(_MARK, None)  # pyright: ignore[reportAttributeAccessIssue]
    with initial_weights(seed), torch.no_grad():
        for parameter in copied.parameters():
            parameter.fill_(float("nan"))
        copied.apply((lambda module: _reset(module, model)) if init == "torch" else model._init_weights)  # pyright: ignore
    return _checked(dict(copied.named_parameters()), init)


def _initialised_model(model: nn.Module, seed: int, init: Init) -> dict[str, torch.Tensor]:
    """Initialise a new model and return its parameters by name, including those outside the layers."""
    if init == "torch":
        return _initialised_layer(model, model, seed, init)
    config = copy.deepcopy(model.config)  # models share their configuration, and building a model changes it
    extra = {"add_pooling_layer": False} if getattr(model, "pooler", 0) is None else {}
    with initial_weights(seed):
        fresh = type(model)(config, **extra).to("cpu", torch.float32)
    return _checked(dict(fresh.named_parameters()), init)


def _reset(module: nn.Module, model: Any) -> None:
    if hasattr(module, "reset_parameters"):
        module.reset_parameters()  # pyright: ignore[reportCallIssue]
    elif "norm" in type(module).__name__.lower():
        # Normalisations of the architectures lack reset_parameters. Those of Gemma multiply by one plus their weight.
        model._init_weights(module)


def _checked(values: dict[str, torch.Tensor], init: Init) -> dict[str, torch.Tensor]:
    """Return the values; raise an error if any is not finite."""
    for name, value in values.items():
        if not torch.isfinite(value).all():
            if init == "torch":
                raise EncoderError(
                    f"cannot re-initialise {name}: PyTorch has no default initialiser for it",
                    hint="use the architecture's, init=architecture",
                )
            raise EncoderError(f"cannot re-initialise {name}: the architecture has no initialiser for it")
    return values
