"""Feature-based readout: a scalar mix of all layers of a frozen encoder and a two-layer BiLSTM.

Wu & Dredze (2019, section 5.2), after ELMo.
"""

from dataclasses import replace

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from crosslens.digests import require_seed, stream_seed
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.freeze import frozen_whole
from crosslens.encoders.gpu.lstm import store_together
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.readouts.readout import Readout
from crosslens.initial_weights import initial_weights


class ScalarMixBiLSTM(Readout):
    """A softmax-weighted mix of layers, followed by a two-layer BiLSTM.

    Args:
        layers: number of mixed layers, including the embeddings.
        width: hidden size of the encoder.
        hidden: LSTM size in each direction.
    """

    def __init__(self, layers: int, width: int, hidden: int) -> None:
        super().__init__(layers=tuple(range(layers)), width=2 * hidden)
        self.mixture = nn.Parameter(torch.zeros(layers))
        self.lstm = nn.LSTM(width, hidden, num_layers=2, bidirectional=True, batch_first=True)

    def train(self, mode: bool = True) -> "ScalarMixBiLSTM":
        """Set training or evaluation mode."""
        super().train(mode)
        store_together(self)
        return self

    def forward(self, layers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Map ``(layers + 1, windows, length, width)`` to ``(windows, length, 2 * hidden)``, ignoring padding."""
        mixed = torch.tensordot(torch.softmax(self.mixture, 0), layers, 1)
        packed = pack_padded_sequence(mixed, mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=mask.shape[1])[0]


def as_features(encoder: Encoder, *, seed: int, hidden: int | None = None) -> Encoder:
    """Freeze an encoder and add a randomly initialised `ScalarMixBiLSTM` readout.

    Args:
        encoder: not modified.
        seed: random seed of the readout.
        hidden: LSTM size in each direction; None: the encoder's width. (The paper says "d_h hidden size".)

    Returns:
        A copy whose parameters are frozen, with an untrained scalar mix and BiLSTM as readout.

    Raises:
        RequestError: for an invalid seed, or a size below 1.
        EncoderError: for an encoder that has a readout.

    Examples:
        >>> features = xl.as_features(encoder, seed=1, hidden=16)
        >>> features.condition.label, features.output_width
        ('reference features hidden=16', 32)
    """
    require_encoder(encoder)
    seed = require_seed(seed)
    (intervention,) = Condition.read({"use": "features", "hidden": hidden}).interventions
    with initial_weights(stream_seed(seed, "features")):
        readout = ScalarMixBiLSTM(encoder.depth + 1, encoder.width, hidden or encoder.width).to(encoder.device)
    frozen = frozen_whole(encoder)
    return replace(frozen.changed(Change(intervention, seed), since=encoder), readout=readout)
