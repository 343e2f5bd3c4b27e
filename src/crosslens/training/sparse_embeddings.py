"""Training only the embedding rows that occur in the text: of XLM-R's 250,000, a treebank uses one in ten.

A row that never occurs has no gradient, and embeddings do not decay, so AdamW leaves it exactly where it is. Taking
those rows out of training changes nothing but the time and the memory that carrying them along takes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from torch import nn

from crosslens.encoders.encoder import Encoder
from crosslens.encoders.inputs import EncodedCorpus

LOW_IDS = 1000
"""Padding ids up to here keep their number. All rows stay where one is higher, where the table is not the only one, or
where the encoder computes with the ids themselves."""


@contextmanager
def restrict_embeddings(encoder: Encoder, *readings: EncodedCorpus) -> Iterator[tuple[EncodedCorpus, ...]]:
    """Inside the block the encoder's embedding table has only the rows that these readings use.

    Args:
        encoder: its table is made small, and whole again when the block ends, with what the rows became.
        readings: all that is read inside the block.

    Returns:
        The readings with ids that fit the small table; where it cannot be made small, as they were.
    """
    table = encoder.model.get_input_embeddings()
    whole = table.get_parameter("weight")
    used = np.concatenate([window.ids for reading in readings for window in reading.windows])
    rows = np.union1d(used, np.arange(encoder.padding + 1))
    fixed = encoder.family.reads_numbers or encoder.padding > LOW_IDS or not _stands_alone(encoder.model, whole)
    if fixed or 2 * len(rows) > len(whole):
        yield readings
        return
    places = torch.from_numpy(rows).to(whole.device)
    numbers = np.full(len(whole), -1, np.int64)
    numbers[rows] = np.arange(len(rows))
    table.weight = nn.Parameter(whole.detach()[places])
    try:
        yield tuple(
            replace(reading, windows=tuple(replace(window, ids=numbers[window.ids]) for window in reading.windows))
            for reading in readings
        )
    finally:
        with torch.no_grad():
            whole.index_copy_(0, places, table.get_parameter("weight"))
        table.weight = whole


def _stands_alone(model: nn.Module, whole: nn.Parameter) -> bool:
    """Whether this trainable table is the only one by vocabulary, and belongs to one module only."""
    owners = sum(parameter is whole for module in model.modules() for parameter in module._parameters.values())
    tables = sum(parameter.shape[:1] == whole.shape[:1] for parameter in model.parameters())
    return whole.requires_grad and owners == 1 and tables == 1
