"""Predictions for every word of every sentence, in the corpus's order."""

from dataclasses import replace

import numpy as np
import torch

from crosslens.data.batching import evaluation_batches
from crosslens.data.corpus import Corpus
from crosslens.encoders.batch import make_batch, reading_budget
from crosslens.encoders.reading import Reading, read_windows
from crosslens.training.model import TaskModel


def predict(model: TaskModel, corpus: Corpus) -> Corpus:
    """The corpus with the model's annotation instead of its own.

    Args:
        model: a fine-tuned model.
        corpus: sentences of words; their own annotation is not looked at.

    Returns:
        The same sentences, in the same order. Multiword ranges, comments and all that the model does not predict
        are kept, so that the result can be written and given to any scorer.
    """
    reading = read_windows(model.encoder, corpus, window=model.recipe.window, context=model.recipe.context)
    return predict_windows(model, corpus, reading)


def predict_windows(model: TaskModel, corpus: Corpus, reading: Reading) -> Corpus:
    """`predict` for a corpus that has been cut already."""
    windows = reading.windows
    predicted: list[np.ndarray | None] = [None] * len(windows)
    encoder = model.encoder
    encoder.model.eval()
    model.head.eval()
    with torch.inference_mode():
        for numbers in evaluation_batches([len(w) for w in windows], budget=reading_budget(encoder.device)):
            batch = make_batch([windows[i] for i in numbers], padding=encoder.padding, device=encoder.device)
            states = encoder.states(batch.ids, batch.mask)
            for number, words in zip(numbers, model.task.predict(model.head, states, batch), strict=True):
                predicted[number] = words
    of_sentence: list[list[np.ndarray]] = [[] for _ in corpus]
    for window, words in zip(windows, predicted, strict=True):
        assert words is not None
        of_sentence[window.sentence].append(words)
    annotated = tuple(
        model.task.annotate(sentence, np.concatenate(parts) if parts else np.empty(0, np.int64), model.labels)
        for sentence, parts in zip(corpus.sentences, of_sentence, strict=True)
    )
    return replace(corpus, items=annotated)
