"""Store the weights of LSTMs as cuDNN reads them."""

import torch
from torch import nn


def store_together(module: nn.Module) -> None:
    """Store the weights of each LSTM in a module together on a GPU, where copying the module set them apart.

    Otherwise cuDNN copies them in every pass, and PyTorch warns. In inference mode, nothing is done.
    """
    if not torch.is_inference_mode_enabled():
        for part in module.modules():
            if isinstance(part, nn.LSTM):
                part.flatten_parameters()
