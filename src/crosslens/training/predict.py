"""Predictions for every word of every sentence, in the corpus's order."""

from dataclasses import replace

import numpy as np
import torch

from crosslens.data.batching import evaluation_batches
from crosslens.data.corpus import Corpus
from crosslens.data.windows import by_sentence
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
    units = by_sentence(reading.windows)  # read together: the parser looks from one end of a sentence to the other
    predicted: list[np.ndarray] = [np.empty(0, np.int64)] * len(corpus)
    encoder = model.encoder
    encoder.model.eval()
    model.head.eval()
    lengths = [sum(map(len, unit)) for unit in units]
    with torch.inference_mode():
        for numbers in evaluation_batches(lengths, budget=reading_budget(encoder.device)):
            windows = [window for i in numbers for window in units[i]]
            batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
            states = encoder.states(batch.ids, batch.mask, precision=model.recipe.precision)
            for number, words in zip(numbers, model.task.predict(model.head, states, batch), strict=True):
                predicted[units[number][0].sentence] = words
    annotated = tuple(
        model.task.annotate(sentence, words, model.labels)
        for sentence, words in zip(corpus.sentences, predicted, strict=True)
    )
    return replace(corpus, items=annotated)
