"""The readout of `as_features`, against a softmax by hand and an LSTM of torch on each sentence alone."""

import torch
from torch import nn

from crosslens.encoders.encoder import layer_outputs
from crosslens.encoders.readouts.scalar_mix_bilstm import as_features


def test_it_reads_a_weighted_mean_of_all_layers_forwards_and_backwards_without_padding(encoder):
    features = as_features(encoder, seed=1, hidden=6)
    features.trained.eval()
    weights = torch.tensor([0.5, -1.0, 2.0, 0.0, 1.0])
    lstm = nn.LSTM(encoder.width, 6, 2, bidirectional=True, batch_first=True)
    # The batch is padded beyond its longest sentence.
    ids = torch.tensor([[2, 60, 61, 62, 3, 0], [2, 63, 3, 0, 0, 0]])
    mask = torch.tensor([[1] * 5 + [0], [1, 1, 1, 0, 0, 0]])
    with torch.no_grad():
        features.readout.mixture.copy_(weights)
        lstm.load_state_dict(features.readout.lstm.state_dict())
        read = features.states(ids, mask)
        assert read.shape == (*ids.shape, 12)
        shares = weights.exp() / weights.exp().sum()
        for row, length in enumerate(mask.sum(1).tolist()):
            layers = layer_outputs(encoder, ids[[row], :length], mask[[row], :length])
            mixed = sum(share * states for share, states in zip(shares, layers, strict=True))
            torch.testing.assert_close(read[row, :length], lstm(mixed)[0][0], rtol=1e-4, atol=1e-5)
