"""Places in an encoder where states can be read and replaced, by hooks on the modules of transformers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from crosslens.data.windows import Window
from crosslens.encoders.batch import Batch, reading_batches
from crosslens.encoders.encoder import ONE_PASS, Encoder, StopForward, layer_parts
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.models.language_specific import PerLanguage
from crosslens.encoders.states.address import MOST, UNITS, Address
from crosslens.encoders.states.sublayers import SUBLAYERS
from crosslens.errors import EncoderError


@dataclass(frozen=True, eq=False)
class Site:
    """A place in an encoder where states can be read and replaced.

    Attributes:
        name: address of this one place, such as ``5.attention``.
        layer: the layer; 0 is the embeddings.
        module: module whose input or output the states are.
        side: which of the two.
        columns: columns of the states that the address names; None: all.
        time_first: whether the module has ``(length, windows, width)``.
    """

    name: str
    layer: int
    module: nn.Module
    side: Literal["input", "output"]
    columns: tuple[int, ...] | None = None
    time_first: bool = False

    @cached_property
    def _index(self) -> torch.Tensor:
        return torch.tensor(self.columns)

    def select(self, states: torch.Tensor) -> torch.Tensor:
        """Select the addressed columns of the states."""
        return states if self.columns is None else states[..., self._index.to(states.device)]

    def insert(self, states: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the states with other values in the addressed columns."""
        if self.columns is None:
            return values
        return states.index_copy(-1, self._index.to(states.device), values)


def sites(encoder: Encoder, address: Address | str) -> list[Site]:
    """Find the places that an address names in an encoder, from the lowest layer up.

    Raises:
        EncoderError: for a layer, part, head or neuron that the encoder does not have.
    """
    address = Address.parse(address) if isinstance(address, str) else address
    places: list[Site] = []
    for layer in parse_layers(address.layers, encoder.depth):
        if layer == 0:
            if address.component not in ("all", "output"):
                raise EncoderError(f"the embeddings have no {address.component}", hint="write 0 for the embeddings")
            places.append(_embeddings(encoder))
        elif address.component == "output":
            places.append(
                Site(
                    f"{layer}.output",
                    layer,
                    layer_parts(encoder.layers[layer - 1])[-1],
                    "output",
                    time_first=encoder.family.time_first,
                )
            )
        else:
            components = ("attention", "ffn") if address.component == "all" else (address.component,)
            places += [_site(encoder, layer, component, address.units) for component in components]
    return places


def _embeddings(encoder: Encoder) -> Site:
    if len(encoder.family.layers) > 1:  # XLM adds the input of the first layer outside its modules
        return Site("0", 0, encoder.model.get_submodule("layer_norm_emb"), "output")
    return Site("0", 0, layer_parts(encoder.layers[0])[0], "input", time_first=encoder.family.time_first)


def _site(encoder: Encoder, layer: int, component: str, units: str | None) -> Site:
    parts = SUBLAYERS[encoder.family.name]
    path, norm = getattr(parts, component), getattr(parts, f"{component}_norm")
    if path is None:
        raise EncoderError(
            f"{encoder.family.name} has no {component} whose output is separate", hint=f"address {layer}.output"
        )
    own = _of_language(encoder, encoder.layers[layer - 1])
    first = encoder.family.time_first
    if units is None:
        return Site(f"{layer}.{component}", layer, own.get_submodule(norm or path), "output", time_first=first)
    module = own.get_submodule(path)
    count = _units(encoder, module, component)
    width = int(module.in_features) // count  # pyright: ignore[reportArgumentType]
    chosen = parse_layers(units, MOST)
    unit = next(name for name, of_component in UNITS.items() if of_component == component)
    if chosen[-1] >= count:
        raise EncoderError(f"{unit} {chosen[-1]} does not exist", hint=f"layer {layer} has {unit}s 0 to {count - 1}")
    columns = tuple(number * width + column for number in chosen for column in range(width))
    return Site(f"{layer}.{component}.{unit}.{units}", layer, module, "input", columns, first)


def _units(encoder: Encoder, projection: nn.Module, component: str) -> int:
    heads = encoder.model.config.num_attention_heads
    return int(heads if component == "attention" else projection.in_features)  # pyright: ignore[reportArgumentType]


def addresses(encoder: Encoder) -> list[tuple[str, str]]:
    """List what can be addressed, as pairs of address and description, layer by layer."""
    parts = SUBLAYERS[encoder.family.name]
    config = encoder.model.config
    rows = [("0", f"embeddings, {encoder.width} dimensions")]
    for layer in range(1, encoder.depth + 1):
        rows.append((f"{layer}.output", f"states after layer {layer}, {encoder.width} dimensions"))
        if parts.attention:
            heads = int(config.num_attention_heads)
            groups = getattr(config, "num_key_value_heads", None) or heads
            shared = f"; {heads // groups} neighbouring heads share a key" if groups < heads else ""
            rows.append((f"{layer}.attention.head.0-{heads - 1}", f"{heads} heads of attention{shared}"))
        if parts.ffn:
            projection = _of_language(encoder, encoder.layers[layer - 1]).get_submodule(parts.ffn)
            neurons = _units(encoder, projection, "ffn")
            rows.append((f"{layer}.ffn.neuron.0-{neurons - 1}", f"{neurons:,} neurons of the feed-forward part"))
    return rows


def _of_language(encoder: Encoder, module: nn.Module) -> nn.Module:
    return module.parts[encoder.language] if isinstance(module, PerLanguage) and encoder.language else module


Replacement = Callable[[Site, torch.Tensor], torch.Tensor]
"""Function from a place and its states ``(windows, length, columns)`` to the states that replace them."""


@contextmanager
def replacing(places: Sequence[Site], replacement: Replacement) -> Iterator[None]:
    """Replace the states at some places in every forward pass inside the block.

    The states may be read only: a replacement that returns its argument changes no bit.
    """

    def replaced(site: Site, states: torch.Tensor) -> torch.Tensor:
        full = states.transpose(0, 1) if site.time_first else states
        selected = site.select(full)
        values = replacement(site, selected)
        if values is selected:
            return states
        full = site.insert(full, values.to(states.dtype))
        return full.transpose(0, 1) if site.time_first else full

    def on_input(site: Site) -> Callable:
        def hook(module: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
            if args:
                return (replaced(site, args[0]), *args[1:]), kwargs
            return args, {**kwargs, "hidden_states": replaced(site, kwargs["hidden_states"])}

        return hook

    def on_output(site: Site) -> Callable:
        def hook(module: nn.Module, args: tuple, output: Any) -> Any:
            if isinstance(output, torch.Tensor):
                return replaced(site, output)
            return type(output)((replaced(site, output[0]), *output[1:]))

        return hook

    with ExitStack() as hooks:
        for site in places:  # before other hooks, which then record what replaced the states
            hooks.enter_context(
                site.module.register_forward_pre_hook(on_input(site), with_kwargs=True, prepend=True)
                if site.side == "input"
                else site.module.register_forward_hook(on_output(site), prepend=True)
            )
        yield


def states_at(encoder: Encoder, places: Sequence[Site], batch: Batch) -> list[torch.Tensor]:
    """Compute the states ``(windows, length, columns)`` at some places for one batch, and no layers above them."""
    read: dict[str, torch.Tensor] = {}
    names = {site.name for site in places}

    def keep(site: Site, states: torch.Tensor) -> torch.Tensor:
        read[site.name] = states
        if len(read) == len(names):
            raise StopForward
        return states

    with ONE_PASS, replacing(places, keep), suppress(StopForward):
        encoder._last_states(batch.ids, batch.mask, batch.segments)
    return [read[site.name] for site in places]


def read_sites(
    encoder: Encoder, places: Sequence[Site], windows: Sequence[Window]
) -> Iterator[tuple[np.ndarray, Batch, list[torch.Tensor]]]:
    """Compute the states of windows at some places, batch by batch; iterate inside `inference`.

    Yields:
        The indices of the windows; their batch; for each place its states ``(windows, length, columns)``.
    """
    encoder.trained.eval()
    for numbers, batch in reading_batches(windows, padding=encoder.padding, device=encoder.device):
        yield numbers, batch, states_at(encoder, places, batch)
