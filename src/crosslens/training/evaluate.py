"""Evaluation of a fine-tuned model on corpora, as tidy records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from transformers import PreTrainedTokenizerBase

from crosslens import __version__
from crosslens.corpora.catalogue import CorpusLike, load_corpora
from crosslens.data.corpus import Corpus
from crosslens.encoders.coverage import count_unknown_ids
from crosslens.encoders.inputs import EncodedCorpus
from crosslens.encoders.options import Precision
from crosslens.files import new_folder
from crosslens.heap import release_heap
from crosslens.progress import Listener, listening
from crosslens.results.cautions import TRAINED
from crosslens.results.record import Record, Results
from crosslens.scores.score import Score
from crosslens.tasks.prediction_files import prediction_files
from crosslens.training.checkpoint import as_model
from crosslens.training.model import TaskModel, in_precision
from crosslens.training.predict import predict_variants, read_for


def evaluate(
    model: TaskModel | str | Path,
    corpora: CorpusLike,
    *,
    predictions: str | Path | None = None,
    precision: Precision | Literal["auto"] | None = None,
    progress: Listener = None,
    predicted: Callable[[Corpus, Corpus], None] | None = None,
) -> Results:
    """Predict and score every word or text of each corpus; corpora in other languages are scored zero-shot.

    Args:
        model: a fine-tuned model, or the folder of one.
        corpora: a corpus or its name, or several; names may be patterns such as ``ud/*_pud``.
        predictions: new folder for the predictions of each corpus; see `prediction_files`. None: none are written.
        precision: number format of the computation, as in `in_precision`; None: the model's.
        progress: listener for the number of evaluated corpora.
        predicted: called after each corpus with the gold and the predicted corpus.

    Returns:
        One record per corpus and metric, with a 95 % bootstrap interval over sentences, and the counts per sentence.

    Raises:
        DataError: for a corpus without the annotation; raised before anything is predicted.
        EncoderError: for a folder without a model.
        RequestError: when the prediction folder exists, or two corpora would have the same file name; for an unknown
            precision, or float32 if the recipe says bfloat16.

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

            return evaluate(model, gold, progress=progress, predicted=write)
    return evaluate_variants([model], gold, progress=progress, predicted=predicted)[0]


def evaluate_variants(
    models: Sequence[TaskModel],
    corpora: Sequence[Corpus],
    *,
    progress: Listener = None,
    predicted: Callable[[Corpus, Corpus], None] | None = None,
) -> list[Results]:
    """Evaluate one model under several interventions on states, as `evaluate` does, and compute shared states once.

    Args:
        models: models that differ only in interventions on states.
        predicted: called for each of the models.
    """
    model = models[0]
    records: list[list[Record]] = [[] for _ in models]
    counts: list[dict] = [{} for _ in models]
    columns = [model.columns for model in models]
    listener = listening(progress)
    for number, full_corpus in enumerate(corpora):
        listener.report("evaluating", number, len(corpora), "corpora", full_corpus.name)
        corpus = model.task.cut(model.encoder, full_corpus)
        encoded = read_for(model, corpus)
        facts = _facts(model.encoder.for_language(corpus.language).tokenizer, corpus, encoded)
        if model.trained_on is not None:
            facts[TRAINED] = len(full_corpus.items_among(model.trained_on))
        for variant, annotated in enumerate(predict_variants(models, corpus, encoded)):
            own = columns[variant]
            for score in model.task.score(corpus, annotated, known=frozenset(model.labels)):
                counts[variant][own["run"], own["condition"], corpus.digest, score.metric] = np.stack(
                    [score.numerator, score.denominator]
                )
                records[variant].append(_record(own, facts, models[variant].provenance, corpus, score))
            if predicted is not None:
                predicted(corpus, annotated)
        release_heap()
    listener.report("evaluating", len(corpora), len(corpora), "corpora")
    return [replace(Results.of(rows), counts=counted) for rows, counted in zip(records, counts, strict=True)]


def _facts(tokenizer: PreTrainedTokenizerBase, corpus: Corpus, encoded: EncodedCorpus) -> dict[str, int]:
    """What a corpus was read as."""
    return {
        "sentences": len(corpus),
        **count_unknown_ids(tokenizer, encoded.subwords),
        "unknown_words": encoded.unknown,
        "cut_words": encoded.cut,
        "split_sentences": encoded.split,
    }


def _record(
    columns: Mapping[str, Any],
    facts: Mapping[str, int],
    provenance: Mapping[str, str | int | float],
    corpus: Corpus,
    score: Score,
) -> Record:
    tags = {**facts, "crosslens": __version__, **score.notes, **provenance}
    if corpus.release:
        tags["release"] = corpus.release
    return Record(
        **columns,
        **score.columns,
        target=corpus.language,
        split=corpus.split,
        corpus=corpus.name,
        corpus_digest=corpus.digest,
        tags=tags,
    )
