"""One vector a sentence and layer: the mean of its subwords' states, special tokens left out."""

import numpy as np
import torch

from crosslens.data.batching import evaluation_batches
from crosslens.data.corpus import Corpus
from crosslens.encoders.batch import make_batch, reading_budget
from crosslens.encoders.encoder import Encoder, layer_outputs
from crosslens.encoders.reading import read_windows


def represent(encoder: Encoder, corpus: Corpus) -> np.ndarray:
    """Mean-pooled sentence vectors of all layers (Muller et al. 2021, section 2.2).

    The raw output of every layer, before any final normalisation that the architecture puts behind the last one, so
    that layers compare with one another. Special tokens stay out: they carry the sentence's length into the mean and
    make unrelated sentences look alike. A sentence too long for one window is pooled over all its windows, each
    subword once.

    Args:
        encoder: put into evaluation mode.
        corpus: sentences of words.

    Returns:
        ``(layers + 1, sentences, hidden)`` float32; layer 0 is the embeddings. Nothing larger is ever held.
    """
    windows = read_windows(encoder, corpus).windows
    pooled = np.zeros((encoder.depth + 1, len(corpus), encoder.width), np.float32)
    counts = np.zeros(len(corpus), np.float32)
    encoder.model.eval()
    with torch.inference_mode():
        for numbers in evaluation_batches([len(w) for w in windows], budget=reading_budget(encoder.device)):
            batch = make_batch([windows[i] for i in numbers], padding=encoder.padding, device=encoder.device)
            own = torch.zeros_like(batch.mask, dtype=torch.float32)
            for row, window in enumerate(batch.windows):
                own[row, slice(*window.span)] = 1
            sentences = np.asarray([window.sentence for window in batch.windows])
            np.add.at(counts, sentences, own.sum(1).cpu().numpy())
            for layer, states in enumerate(layer_outputs(encoder, batch.ids, batch.mask)):
                sums = torch.bmm(own[:, None], states.float())[:, 0]
                np.add.at(pooled[layer], sentences, sums.cpu().numpy())
    pooled /= np.maximum(counts, 1)[None, :, None]
    return pooled
