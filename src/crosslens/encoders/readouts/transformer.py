"""Transformer readout: new Transformer layers on one frozen encoder layer (Conneau, Wu et al. 2020, section 5.1.2)."""

import math
from dataclasses import replace

import torch
from torch import nn

from crosslens.digests import digest, require_seed, stream_seed
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.freeze import frozen_whole
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.readouts.readout import Readout
from crosslens.initial_weights import initial_weights

EPSILON = 1e-8
"""Added to norms; the same value as in the normalisation before a rotation is learnt."""


class TransformerReadout(Readout):
    """Transformer layers on the normalised states of one encoder layer, rotated if they come from another encoder.

    Args:
        layer: input layer; 0 is the embeddings.
        width: hidden size of the encoder.
        heads: attention heads of each new layer.
        feedforward: feed-forward size of each new layer.
        height: number of new layers.
        dropout: dropout rate of the new layers.
    """

    def __init__(self, layer: int, width: int, heads: int, feedforward: int, height: int, dropout: float) -> None:
        super().__init__(layers=(layer,), width=width)
        block = nn.TransformerEncoderLayer(width, heads, feedforward, dropout, activation="gelu", batch_first=True)
        self.stack = nn.TransformerEncoder(block, height, enable_nested_tensor=False)
        for parameter in self.stack.parameters():  # torch makes identical copies of the layer
            if parameter.ndim > 1:
                nn.init.normal_(parameter, std=0.55 / math.sqrt(width))
        self.means = _fixed(torch.zeros(0, width))
        self.matrix = _fixed(torch.eye(width))

    def forward(self, layers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Map ``(1, windows, length, width)`` to ``(windows, length, width)``."""
        states = _unit(layers[0])
        for mean in self.means:
            states = _unit(states - mean)
        # The entries of a unit vector are far smaller than the layer initialisation assumes.
        return self.stack(math.sqrt(self.width) * states @ self.matrix, src_key_padding_mask=~mask.bool())


def as_tower(encoder: Encoder, layer: int, *, seed: int, height: int = 4) -> Encoder:
    """Freeze an encoder and add randomly initialised Transformer layers on one of its layers.

    Args:
        encoder: not modified.
        layer: input layer; 0 is the embeddings.
        seed: random seed of the new layers.
        height: number of new layers. They have as many attention heads as those of the encoder, or the next smaller
            number that divides its width.

    Returns:
        A copy whose parameters are frozen, with untrained Transformer layers as readout.

    Raises:
        EncoderError: for a layer that does not exist, or an encoder that has a readout.
        RequestError: for an invalid seed, several layers, or a height below 1.

    Examples:
        >>> on_layer_2 = xl.as_tower(encoder, 2, seed=1, height=1)
        >>> on_layer_2.condition.label, on_layer_2.readout.layers
        ('reference tower on 2 height=1', (2,))
    """
    require_encoder(encoder)
    seed = require_seed(seed)
    (intervention,) = Condition.read({"tower": layer, "height": height}).interventions
    (layer,) = parse_layers(layer, encoder.depth)
    config = encoder.model.config
    most = getattr(config, "num_attention_heads", 1)
    heads = next(number for number in range(most, 0, -1) if encoder.width % number == 0)  # mT5-small: 6 of width 512
    feedforward = getattr(config, "intermediate_size", 4 * encoder.width)
    with initial_weights(stream_seed(seed, "tower")):
        readout = TransformerReadout(layer, encoder.width, heads, feedforward, height, 0.1).to(encoder.device)
    frozen = frozen_whole(encoder)
    return replace(frozen.changed(Change(intervention, seed), since=encoder), readout=readout)


def rotated(
    readout: TransformerReadout, means: torch.Tensor, matrix: torch.Tensor, *, layer: int | None = None
) -> TransformerReadout:
    """Return a readout with the same layers that first normalises states by ``means`` and rotates them by ``matrix``.

    Args:
        readout: readout whose layers are shared, not copied.
        means: ``(rounds, width)`` means of the normalisation rounds.
        matrix: ``(width, width)`` rotation.
        layer: input layer; None: that of ``readout``.
    """
    shared = TransformerReadout.__new__(TransformerReadout)
    Readout.__init__(shared, layers=readout.layers if layer is None else (layer,), width=readout.width)
    shared.stack = readout.stack
    device = readout.matrix.device
    shared.means, shared.matrix = _fixed(means.float().to(device)), _fixed(matrix.float().to(device))
    return shared


def mapping_digest(readout: TransformerReadout) -> str:
    """Return the first eight digits of the digest of a readout's normalisation and rotation."""
    return digest([part.detach().cpu().tolist() for part in (readout.means, readout.matrix)])[:8]


def _fixed(values: torch.Tensor) -> nn.Parameter:
    """Wrap constants as parameters that are saved and part of the digest, but not trained."""
    return nn.Parameter(values, requires_grad=False)


def _unit(states: torch.Tensor) -> torch.Tensor:
    return states / (states.norm(dim=-1, keepdim=True) + EPSILON)
