"""Predictions for every word of every sentence, or for every text, in the corpus's order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from crosslens.data.batching import evaluation_batches
from crosslens.data.corpus import Corpus
from crosslens.data.windows import Window, by_sentence
from crosslens.encoders.batch import Batch, make_batch, reading_budget
from crosslens.encoders.inputs import EncodedCorpus
from crosslens.encoders.matmul import inference
from crosslens.encoders.state_cache import StateCache
from crosslens.progress import SILENT, Listener, Progress, listening
from crosslens.training.model import TaskModel


def predict(model: TaskModel, corpus: Corpus, *, progress: Listener = None) -> Corpus:
    """The corpus with the model's annotation instead of its own.

    Args:
        model: a fine-tuned model.
        corpus: sentences of words or texts, as the task needs; their own annotation is not looked at.
        progress: hears how many sentences or texts are predicted.

    Returns:
        The same sentences, in the same order. Multiword ranges, comments and all that the model does not predict
        are kept, so that the result can be written and given to any scorer.
    """
    reading = read_for(model, corpus)
    return predict_windows(model, corpus, reading, progress=listening(progress))


def read_for(model: TaskModel, corpus: Corpus) -> EncodedCorpus:
    """A corpus as a model reads it."""
    recipe = model.recipe
    return model.task.read(model.encoder, corpus, window=recipe.window, context=recipe.context)


def task_batch(model: TaskModel, corpus: Corpus, windows: Sequence[Window]) -> Batch:
    """Windows of a corpus, and what the model's head may read of their items besides."""
    batch = make_batch(windows, padding=model.encoder.padding, device=model.encoder.device)
    numbers = dict.fromkeys(window.sentence for window in windows)
    given = [its for number in numbers if (its := model.task.word_features(corpus[number])) is not None]
    if not given:
        return batch
    return replace(batch, word_features=torch.from_numpy(np.concatenate(given)).to(batch.ids.device))


def predict_windows(
    model: TaskModel,
    corpus: Corpus,
    reading: EncodedCorpus,
    *,
    states: StateCache | None = None,
    progress: Progress = SILENT,
) -> Corpus:
    """`predict` for a corpus that has been cut already; ``states`` may have kept something of its windows."""
    units = by_sentence(reading.windows)  # read together: the parser looks from one end of a sentence to the other
    predicted: list[np.ndarray] = [np.empty(0, np.int64)] * len(corpus)
    encoder = model.encoder.for_language(corpus.language)
    if states is None or states.encoder.language != encoder.language:
        states = StateCache(encoder, precision=model.recipe.precision)
    encoder.trained.eval()
    model.head.eval()
    lengths = [sum(map(len, unit)) for unit in units]
    done = 0
    with inference():
        for numbers in evaluation_batches(lengths, budget=reading_budget(encoder.device)):
            windows = [window for i in numbers for window in units[i]]
            batch = task_batch(model, corpus, windows)
            for number, its in zip(numbers, model.task.predict(model.head, states(batch), batch), strict=True):
                predicted[units[number][0].sentence] = its
            done += len(numbers)
            progress.report("predicting", done, len(units), "sentences")
    annotated = tuple(model.task.annotate(item, its, model.labels) for item, its in zip(corpus, predicted, strict=True))
    return replace(corpus, items=annotated)
