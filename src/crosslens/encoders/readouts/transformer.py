"""Fresh Transformer layers on one fixed layer of an encoder (Conneau, Wu et al. 2020, section 5.1.2)."""

import math
from dataclasses import replace

import torch
from torch import nn

from crosslens.digests import digest, stream_seed
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.freeze import frozen_whole
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.readouts.readout import Readout

EPSILON = 1e-8
"""As in the normalisation that a rotation is learnt after."""


class TransformerReadout(Readout):
    """Transformer layers on the normalised states of one encoder layer, rotated if they come from another encoder.

    Args:
        layer: which one; 0 is the embeddings.
        width: of its states.
        heads: of each fresh layer.
        feedforward: width inside a fresh layer.
        height: how many fresh layers.
        dropout: in them.
    """

    def __init__(self, layer: int, width: int, heads: int, feedforward: int, height: int, dropout: float) -> None:
        super().__init__(layers=(layer,), width=width)
        fresh = nn.TransformerEncoderLayer(width, heads, feedforward, dropout, activation="gelu", batch_first=True)
        self.stack = nn.TransformerEncoder(fresh, height, enable_nested_tensor=False)
        for parameter in self.stack.parameters():  # the copies that torch makes are all alike
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=0.55 / math.sqrt(width))
        self.means = _fixed(torch.zeros(0, width))
        self.matrix = _fixed(torch.eye(width))

    def forward(self, layers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``(1, windows, length, width)`` to ``(windows, length, width)``."""
        states = _unit(layers[0])
        for mean in self.means:
            states = _unit(states - mean)
        # A row of length 1 has entries far smaller than those that layers are initialised for.
        return self.stack(math.sqrt(self.width) * states @ self.matrix, src_key_padding_mask=~mask.bool())


def as_tower(encoder: Encoder, layer: int, *, seed: int, height: int = 4) -> Encoder:
    """Freeze an encoder and add randomly initialised Transformer layers on one of its layers.

    Args:
        encoder: not modified.
        layer: layer that is read; 0 is the embeddings.
        seed: random seed of the new layers.
        height: number of new layers.

    Returns:
        A copy whose parameters are frozen, with untrained Transformer layers as readout.

    Raises:
        EncoderError: for a layer that does not exist.

    Example:
        >>> on_layer_2 = xl.as_tower(encoder, 2, seed=1, height=1)
        >>> on_layer_2.condition.label, on_layer_2.readout.layers
        ('reference tower on 2 height=1', (2,))
    """
    parse_layers(layer, encoder.depth)
    config = encoder.model.config
    heads = getattr(config, "num_attention_heads", 1)
    feedforward = getattr(config, "intermediate_size", 4 * encoder.width)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "tower"))
        readout = TransformerReadout(layer, encoder.width, heads, feedforward, height, 0.1).to(encoder.device)
    frozen = frozen_whole(encoder)
    change = Change(OnOneLayer(layer=layer, height=height), seed)
    return replace(frozen.changed(change, since=encoder), readout=readout)


def rotated(readout: TransformerReadout, means: torch.Tensor, matrix: torch.Tensor) -> TransformerReadout:
    """Share the layers of a readout, with states normalised by ``means`` and rotated by ``matrix`` first.

    Args:
        readout: shares its layers with what is returned.
        means: ``(rounds, width)``.
        matrix: ``(width, width)``.
    """
    shared = TransformerReadout.__new__(TransformerReadout)
    Readout.__init__(shared, layers=readout.layers, width=readout.width)
    shared.stack = readout.stack
    device = readout.matrix.device
    shared.means, shared.matrix = _fixed(means.float().to(device)), _fixed(matrix.float().to(device))
    return shared


def mapping_digest(readout: TransformerReadout) -> str:
    """First eight digits of the digest of a readout's normalisation and rotation."""
    return digest([part.detach().cpu().tolist() for part in (readout.means, readout.matrix)])[:8]


def _fixed(values: torch.Tensor) -> nn.Parameter:
    """Wrap constants as parameters that are saved and digested, but not trained."""
    return nn.Parameter(values, requires_grad=False)


def _unit(states: torch.Tensor) -> torch.Tensor:
    return states / (states.norm(dim=-1, keepdim=True) + EPSILON)
