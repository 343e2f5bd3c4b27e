"""Train only the embeddings that occur in the text: a treebank uses one in ten of XLM-R's 250,000 subwords.

Other embeddings have no gradient and no weight decay, so AdamW leaves them unchanged. Removing their rows during
training saves time and memory, and does not affect the result.
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
"""Highest padding id that stays unchanged, of the tokenizer and of the table, which may differ. The table is not
restricted if one is higher, if there is another table over the vocabulary, or if the encoder computes with the ids
themselves."""


@contextmanager
def restrict_embeddings(encoder: Encoder, *readings: EncodedCorpus) -> Iterator[tuple[EncodedCorpus, ...]]:
    """Restrict the encoder's embedding table, inside the block, to the rows that these corpora use.

    Args:
        encoder: the encoder; the full table, with the trained rows, is restored after the block.
        readings: all encoded corpora that are used inside the block.

    Yields:
        The corpora with ids of the restricted table; unchanged if the table cannot be restricted.
    """
    table = encoder.model.get_input_embeddings()
    full_weight = table.get_parameter("weight")
    used = np.concatenate([window.ids for reading in readings for window in reading.windows])
    padding = max(encoder.padding, getattr(table, "padding_idx", None) or 0)  # the table trains no such row
    rows = np.union1d(used, np.arange(padding + 1))
    fixed = encoder.family.reads_numbers or padding > LOW_IDS or not _is_only_table(encoder.model, full_weight)
    if fixed or 2 * len(rows) > len(full_weight):
        yield readings
        return
    used_rows = torch.from_numpy(rows).to(full_weight.device)
    new_ids = np.full(len(full_weight), -1, np.int64)
    new_ids[rows] = np.arange(len(rows))
    table.weight = nn.Parameter(full_weight.detach()[used_rows])
    try:
        yield tuple(
            replace(reading, windows=tuple(replace(window, ids=new_ids[window.ids]) for window in reading.windows))
            for reading in readings
        )
    finally:
        with torch.no_grad():
            full_weight.index_copy_(0, used_rows, table.get_parameter("weight"))
        table.weight = full_weight


def _is_only_table(model: nn.Module, weight: nn.Parameter) -> bool:
    """Whether the table is trainable, belongs to one module, and is the only parameter of its length."""
    owners = sum(parameter is weight for module in model.modules() for parameter in module._parameters.values())
    tables = sum(parameter.shape[:1] == weight.shape[:1] for parameter in model.parameters())
    return weight.requires_grad and owners == 1 and tables == 1
