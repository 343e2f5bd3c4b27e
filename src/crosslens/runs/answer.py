"""Run the evaluations of a model or encoder."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder
from crosslens.probes import find_probe
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.progress import Listener
from crosslens.results.record import Results, concatenated
from crosslens.runs.corpora import Corpora, refuse_changed
from crosslens.runs.counts import Counts, counts_of
from crosslens.runs.question import FittedScore, IntervenedScore, Overlap, ProbeQuestion, Question, Score, Similarity
from crosslens.similarity.compare import compare
from crosslens.similarity.overlap import subword_overlap
from crosslens.training.evaluate import evaluate
from crosslens.training.intervene import intervene
from crosslens.training.model import TaskModel

Note = Callable[[str], None]
"""Called with each line of a run's log."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The encoder or model to evaluate.

    Attributes:
        encoder: the encoder, after interventions and fine-tuning, if any.
        model: the fine-tuned model that contains the encoder; None: the encoder is not fine-tuned.
        pretrained: folder or hub name of the encoder before any change and training; None: unknown.
    """

    encoder: Encoder
    model: TaskModel | None = None
    pretrained: str | None = None


def answer(
    subject: Subject,
    questions: Sequence[Question],
    corpora: Corpora,
    *,
    note: Note = lambda _: None,
    progress: Listener = None,
    predictions: str | Path | None = None,
) -> tuple[Results, Counts]:
    """Answer questions about a model or encoder; see `answers`.

    Returns:
        Records with the ids of their questions, in the order of the questions, and the counts of each sentence.
    """
    groups = list(answers(subject, questions, corpora, note=note, progress=progress, predictions=predictions))
    by_question = {name: records for results, _ in groups for (name,), records in results.groups("question")}
    counts = {name: array for _, counted in groups for name, array in counted.items()}
    return concatenated(by_question[question.id] for question in questions if question.id in by_question), counts


def answers(
    subject: Subject,
    questions: Sequence[Question],
    corpora: Corpora,
    *,
    note: Note = lambda _: None,
    progress: Listener = None,
    predictions: str | Path | None = None,
) -> Iterator[tuple[Results, Counts]]:
    """Answer questions about a model or encoder, in groups that are computed together.

    Args:
        subject: the model or encoder.
        questions: the questions, without duplicates.
        corpora: loads and caches corpora.
        note: called with a log line after each step.
        progress: listener for the progress of the evaluation.
        predictions: new folder for the predictions on each corpus; None: predictions are not written.

    Yields:
        Records of a group with the ids of their questions, and the counts of each sentence.

    Raises:
        StoreError: when data have changed since the questions were planned.
    """
    for group in _grouped(questions):
        first, counts = group[0], Counts()
        if isinstance(first, Score):
            scores = [question for question in group if isinstance(question, Score)]
            answered, counts = _scores(subject, scores, corpora, note, progress, predictions)
        elif isinstance(first, ProbeQuestion):
            answered = {first.id: _probe(subject, first, corpora)}
            note(f"probed {first.test.name}")
        elif isinstance(first, Similarity):
            similarities = [question for question in group if isinstance(question, Similarity)]
            answered = _similarities(subject, similarities, corpora)
            note(f"compared {first.corpus}")
        elif isinstance(first, Overlap):
            answered = {}
            overlaps = [question for question in group if isinstance(question, Overlap)]
            train = corpora.planned(first.train, split="train")
            for overlap in overlaps:
                test = corpora.planned(overlap.test)
                answered[overlap.id] = subword_overlap(subject.encoder, train=train, tests=[test])
            note(f"counted subwords shared with {train.name}")
        else:
            continue
        yield concatenated(answered[each.id].with_columns(question=each.id) for each in group), counts


def _grouped(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Group the questions that one call answers: scores under one condition, or those that share a corpus."""
    groups: dict[tuple[object, ...], list[Question]] = {}
    for question in questions:
        if isinstance(question, Similarity):
            key: tuple[object, ...] = (question.kind, question.corpus, question.sentences)
        elif isinstance(question, Overlap):
            key = (question.kind, question.train)
        else:
            shared = isinstance(question, Score)
            condition = question.condition if isinstance(question, IntervenedScore) else None
            key = (question.kind, condition) if shared else (question.id,)
        groups.setdefault(key, []).append(question)
    yield from groups.values()


def _scores(
    subject: Subject,
    questions: Sequence[Score],
    corpora: Corpora,
    note: Note,
    progress: Listener,
    predictions: str | Path | None,
) -> tuple[dict[str, Results], Counts]:
    assert subject.model is not None
    model, under = subject.model, ""
    first = questions[0]
    columns = {}
    if isinstance(first, IntervenedScore):  # all have one condition
        condition = Condition.parse(first.condition)
        reference = corpora.planned(first.reference, split="train") if isinstance(first, FittedScore) else None
        later = condition.up_to("after training")
        model = intervene(model, later, seed=first.seed, pretrained=subject.pretrained, reference=reference)
        columns, under = condition.columns, f" under {condition.label}"
    tests = [corpora.planned(question.corpus) for question in questions]
    ids = {question.corpus.name: question.id for question in questions}
    counts: Counts = {}
    results = evaluate(
        model,
        tests,
        predictions=predictions,
        progress=progress,
        predicted=lambda gold, _: note(f"evaluated {gold.name}{under}"),
        scored=lambda corpus, score: counts.update(counts_of(ids[corpus.name], score)),
    )
    by_corpus = {ids[name]: records.with_columns(**columns) for (name,), records in results.groups("corpus")}
    return by_corpus, counts


def _probe(subject: Subject, question: ProbeQuestion, corpora: Corpora) -> Results:
    refs = {"train": question.train, "test": question.test} | ({"dev": question.dev} if question.dev else {})
    splits = {split: corpora.planned(ref, split=split) for split, ref in refs.items()}
    return probe(
        subject.encoder,
        find_probe(question.name, question.settings),
        train=splits["train"],
        test=splits["test"],
        dev=splits.get("dev"),
        how=Fit(inputs=question.inputs),
        seed=question.seed,
    ).results


def _similarities(subject: Subject, questions: Sequence[Similarity], corpora: Corpora) -> dict[str, Results]:
    """Compare all pairs that share their measures in one call, which encodes each language once."""
    parallel = corpora.head(questions[0].corpus, questions[0].sentences)
    for question in questions:
        for language, digest in zip((question.source, question.target), question.digests, strict=True):
            refuse_changed(f"{question.corpus} ({language})", parallel[language].digest, digest)
    by_pair: dict[tuple[str, str], list[Similarity]] = {}
    for question in questions:
        by_pair.setdefault((question.source, question.target), []).append(question)
    by_measures: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for pair, of_pair in by_pair.items():
        by_measures.setdefault(tuple(question.measure for question in of_pair), []).append(pair)
    by_question: dict[str, Results] = {}
    for measures, pairs in by_measures.items():
        results = compare(subject.encoder, parallel, pairs=[f"{a}-{b}" for a, b in pairs], measures=measures)
        answers = {key: records for key, records in results.groups("source", "target", "measure")}
        for pair in pairs:
            for question in by_pair[pair]:
                by_question[question.id] = answers[question.source, question.target, question.measure]
    return by_question
