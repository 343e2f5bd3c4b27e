"""Predict labels for every word or text of a corpus."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from crosslens.corpora.catalogue import CorpusLike, load_corpus
from crosslens.data.batching import evaluation_batches
from crosslens.data.corpus import Corpus
from crosslens.data.formats import to_complete
from crosslens.data.windows import Window, by_sentence
from crosslens.encoders.batch import Batch, make_batch, reading_budget
from crosslens.encoders.inputs import EncodedCorpus
from crosslens.encoders.matmul import inference
from crosslens.encoders.options import Precision
from crosslens.encoders.state_cache import StateCache
from crosslens.encoders.states.variants import Variants
from crosslens.progress import SILENT, Listener, Progress, listening
from crosslens.training.checkpoint import as_model
from crosslens.training.model import TaskModel, in_precision


def predict(
    model: TaskModel | str | Path,
    corpus: CorpusLike,
    *,
    data: str | Path | None = None,
    precision: Precision | Literal["auto"] | None = None,
    progress: Listener = None,
) -> Corpus:
    """Annotate a corpus with a model.

    Args:
        model: a fine-tuned model, or the folder of one.
        corpus: sentences of words, or texts, as the task requires: a corpus or its name, lists of words, texts, or
            anything else that `load_corpus` takes. Existing annotation is ignored, and may be incomplete.
        data: data folder for a corpus by name.
        precision: number format of the computation, as in `in_precision`; None: the model's.
        progress: listener for the number of predicted sentences or texts.

    Returns:
        The same sentences in the same order, with predicted annotation. Multiword ranges, comments and other annotation
        are kept, so that any scorer can read the result.

    Raises:
        DataError: for a corpus that cannot be read, or running text where the task needs words.
        EncoderError: for a folder without a model.
        RequestError: for an unknown precision, or float32 if the recipe says bfloat16.

    Examples:
        >>> french = xl.load_corpus("ud/fr_pud[:10]", data=sample)
        >>> first = xl.predict(tagger, french).sentences[0]
        >>> len(first.upos) == len(first.words)
        True
        >>> len(xl.predict(tagger, [["Le", "chat", "dort"]])[0].upos)
        3
    """
    model = in_precision(as_model(model), precision)
    corpus = load_corpus(corpus, data=data, format=to_complete(model.task.format, model.task.needs))
    reading = read_for(model, corpus)
    return predict_windows(model, corpus, reading, progress=listening(progress))


def read_for(model: TaskModel, corpus: Corpus) -> EncodedCorpus:
    """Encode a corpus for a model."""
    recipe = model.recipe
    return model.task.read(model.encoder, corpus, window=recipe.window, context=recipe.context)


def task_batch(model: TaskModel, corpus: Corpus, windows: Sequence[Window]) -> Batch:
    """Make a batch of windows, with word features if the task has them."""
    batch = make_batch(windows, padding=model.encoder.padding, device=model.encoder.device)
    numbers = dict.fromkeys(window.sentence for window in windows)
    features = [array for number in numbers if (array := model.task.word_features(corpus[number])) is not None]
    if not features:
        return batch
    return replace(batch, word_features=torch.from_numpy(np.concatenate(features)).to(batch.ids.device))


def predict_windows(
    model: TaskModel,
    corpus: Corpus,
    reading: EncodedCorpus,
    *,
    states: StateCache | None = None,
    progress: Progress = SILENT,
) -> Corpus:
    """Annotate an encoded corpus; ``states`` may hold cached states of its windows."""
    encoder = model.computing_encoder.for_language(corpus.language).prepared(reading.windows, corpus)
    if states is None or states.encoder.language != encoder.language:
        states = StateCache(encoder)
    return _predicted([model], corpus, reading, lambda batch: (states(batch),), progress)[0]


def predict_variants(models: Sequence[TaskModel], corpus: Corpus, reading: EncodedCorpus) -> list[Corpus]:
    """Annotate an encoded corpus by one model under several interventions on states, and compute shared states once."""
    if len(models) == 1:
        return [predict_windows(models[0], corpus, reading)]
    encoders = [model.computing_encoder for model in models]
    with inference():
        variants = Variants(encoders, reading.windows, corpus)
        return _predicted(models, corpus, reading, variants)


def _predicted(
    models: Sequence[TaskModel],
    corpus: Corpus,
    reading: EncodedCorpus,
    states: Callable[[Batch], Iterable[torch.Tensor]],
    progress: Progress = SILENT,
) -> list[Corpus]:
    """Annotate a corpus by models with one task head, which reads the states of each model, batch by batch."""
    model = models[0]
    units = by_sentence(reading.windows)  # one batch: the parser needs whole sentences
    predicted: list[list[np.ndarray]] = [[np.empty(0, np.int64)] * len(corpus) for _ in models]
    model.encoder.trained.eval()
    model.head.eval()
    lengths = [sum(map(len, unit)) for unit in units]
    done = 0
    with inference():
        for numbers in evaluation_batches(lengths, budget=reading_budget(model.encoder.device)):
            windows = [window for i in numbers for window in units[i]]
            batch = task_batch(model, corpus, windows)
            for by_model, of_model in zip(predicted, states(batch), strict=True):
                for number, answer in zip(numbers, model.task.predict(model.head, of_model, batch), strict=True):
                    by_model[units[number][0].sentence] = answer
            done += len(numbers)
            progress.report("predicting", done, len(units), f"{corpus.unit}s")
    return [
        replace(
            corpus,
            items=tuple(
                model.task.annotate(item, answer, model.labels) for item, answer in zip(corpus, by_model, strict=True)
            ),
        )
        for by_model in predicted
    ]
