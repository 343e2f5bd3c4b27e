"""Evaluation of a fine-tuned model on corpora, as tidy records."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from crosslens import __version__
from crosslens.corpora.catalogue import CorpusLike, load_corpora
from crosslens.data.corpus import Corpus
from crosslens.encoders.options import Precision
from crosslens.files import new_folder
from crosslens.heap import release_heap
from crosslens.progress import Listener, listening
from crosslens.results.record import Record, Results
from crosslens.scores.score import Score
from crosslens.tasks.prediction_files import prediction_files
from crosslens.training.checkpoint import as_model
from crosslens.training.model import TaskModel, in_precision
from crosslens.training.predict import predict_windows, read_for


def evaluate(
    model: TaskModel | str | Path,
    corpora: CorpusLike,
    *,
    predictions: str | Path | None = None,
    precision: Precision | Literal["auto"] | None = None,
    progress: Listener = None,
    predicted: Callable[[Corpus, Corpus], None] | None = None,
    scored: Callable[[Corpus, Score], None] | None = None,
) -> Results:
    """Predict and score every word or text of each corpus; corpora in other languages are scored zero-shot.

    Args:
        model: a fine-tuned model, or the folder of one.
        corpora: a corpus or its name, or several; names may be patterns such as ``ud/*_pud``.
        predictions: new folder for the predictions of each corpus; see `prediction_files`. None: none are written.
        precision: number format of the computation, as in `in_precision`; None: the model's.
        progress: listener for the number of evaluated corpora.
        predicted: called after each corpus with the gold and the predicted corpus.
        scored: called for each corpus and metric with the score and its counts per sentence.

    Returns:
        One record per corpus and metric, with a 95 % bootstrap interval over sentences, and the counts per sentence.

    Raises:
        DataError: for a corpus without the annotation; raised before anything is predicted.
        EncoderError: for a folder without a model.
        RequestError: when the prediction folder exists, or two corpora would have the same file name.

    Examples:
        >>> tests = [xl.load_corpus(f"ud/{name}_pud[:10]", data=sample) for name in ("en", "fr")]
        >>> frame = xl.evaluate(tagger, tests).to_pandas()
        >>> frame[["source", "target", "metric", "n"]].values.tolist()
        [['en', 'en', 'accuracy', 234], ['en', 'fr', 'accuracy', 277]]
    """
    model = in_precision(as_model(model), precision)
    gold = load_corpora(corpora, format=model.task.format)
    for corpus in gold:
        model.task.check(corpus)
    if predictions is not None:
        files = iter(prediction_files(model.task, gold))
        with new_folder(predictions) as folder:

            def write(corpus: Corpus, annotated: Corpus) -> None:
                model.task.format.write(annotated, folder / next(files))
                if predicted is not None:
                    predicted(corpus, annotated)

            return evaluate(model, gold, progress=progress, predicted=write, scored=scored)
    columns = model.columns
    records = []
    counts = {}
    listener = listening(progress)
    for number, full_corpus in enumerate(gold):
        listener.report("evaluating", number, len(gold), "corpora", full_corpus.name)
        corpus = model.task.cut(model.encoder, full_corpus)
        encoded = read_for(model, corpus)
        annotated = predict_windows(model, corpus, encoded)
        release_heap()
        for score in model.task.score(corpus, annotated, known=frozenset(model.labels)):
            if scored is not None:
                scored(corpus, score)
            low, high = score.interval or (None, None)
            counts[columns["run"], columns["condition"], corpus.digest, score.metric] = np.stack(
                [score.numerator, score.denominator]
            )
            tags = {
                "sentences": len(corpus),
                "unknown_words": encoded.unknown,
                "cut_words": encoded.cut,
                "split_sentences": encoded.split,
                "crosslens": __version__,
                **score.notes,
                **model.provenance,
            }
            if corpus.release:
                tags["release"] = corpus.release
            records.append(
                Record(
                    **columns,
                    target=corpus.language,
                    split=corpus.split,
                    corpus=corpus.name,
                    corpus_digest=corpus.digest,
                    metric=score.metric,
                    value=score.value,
                    low=low,
                    high=high,
                    n=score.n,
                    signature=score.signature,
                    tags=tags,
                )
            )
        if predicted is not None:
            predicted(corpus, annotated)
    listener.report("evaluating", len(gold), len(gold), "corpora")
    return replace(Results.of(records), counts=counts)
