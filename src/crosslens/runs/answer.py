"""Answering questions of a run's model or encoder."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosslens.encoders.encoder import Encoder
from crosslens.probes import find_probe
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.progress import Listener
from crosslens.results.record import Results, concatenated
from crosslens.runs.corpora import Corpora, refuse_changed
from crosslens.runs.counts import Counts, counts_of
from crosslens.runs.question import Overlap, ProbeQuestion, Question, Score, Similarity
from crosslens.similarity.compare import compare
from crosslens.similarity.overlap import subword_overlap
from crosslens.training.evaluate import evaluate
from crosslens.training.model import TaskModel

Note = Callable[[str], None]
"""Takes a line of a run's log."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is asked.

    Attributes:
        encoder: the encoder, changed and perhaps fine-tuned.
        model: the fine-tuned model around it; None: it is not fine-tuned.
    """

    encoder: Encoder
    model: TaskModel | None = None


def answer(
    subject: Subject,
    questions: Sequence[Question],
    corpora: Corpora,
    *,
    note: Note = lambda _: None,
    progress: Listener = None,
    predictions: str | Path | None = None,
) -> tuple[Results, Counts]:
    """The answers to questions, and what each sentence adds to the scores.

    Args:
        subject: whom they are asked.
        questions: each once.
        corpora: keeps what was read.
        note: called with what was done.
        progress: hears how far evaluation is.
        predictions: a folder to make, with the predictions for each corpus; None: they are not kept.

    Returns:
        Records that carry the ids of their questions, in the order of these.

    Raises:
        StoreError: for data that have changed since the questions were planned.
    """
    answered: dict[str, Results] = {}
    counts: Counts = {}
    for alike in _together(questions):
        first = alike[0]
        if isinstance(first, Score):
            scores = [each for each in alike if isinstance(each, Score)]
            answers, counts = _scores(subject, scores, corpora, note, progress, predictions)
            answered |= answers
        elif isinstance(first, ProbeQuestion):
            answered[first.id] = _probe(subject, first, corpora)
            note(f"probed {first.test.name}")
        elif isinstance(first, Similarity):
            answered |= _similarities(subject, [each for each in alike if isinstance(each, Similarity)], corpora)
            note(f"compared {first.corpus}")
        elif isinstance(first, Overlap):
            overlaps = [each for each in alike if isinstance(each, Overlap)]
            train = corpora.planned(first.train, split="train")
            for each in overlaps:
                answered[each.id] = subword_overlap(subject.encoder, train=train, tests=[corpora.planned(each.test)])
            note(f"counted subwords shared with {train.name}")
    named = [answered[question.id].with_columns(question=question.id) for question in questions]
    return concatenated(named), counts


def _together(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Questions that are answered in one call: all scores, and what is asked of one parallel or one training corpus."""
    groups: dict[tuple, list[Question]] = {}
    for question in questions:
        if isinstance(question, Similarity):
            key: tuple = (question.kind, question.corpus, question.sentences)
        elif isinstance(question, Overlap):
            key = (question.kind, question.train)
        else:
            key = (question.kind,) if isinstance(question, Score) else (question.id,)
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
    tests = [corpora.planned(question.corpus) for question in questions]
    asked = {question.corpus.name: question.id for question in questions}
    counts: Counts = {}
    results = evaluate(
        subject.model,
        tests,
        predictions=predictions,
        progress=progress,
        predicted=lambda gold, _: note(f"evaluated {gold.name}"),
        scored=lambda corpus, score: counts.update(counts_of(asked[corpus.name], score)),
    )
    return {asked[name]: records for (name,), records in results.groups("corpus")}, counts


def _probe(subject: Subject, question: ProbeQuestion, corpora: Corpora) -> Results:
    refs = {"train": question.train, "test": question.test} | ({"dev": question.dev} if question.dev else {})
    read = {split: corpora.planned(ref, split=split) for split, ref in refs.items()}
    how = Fit(inputs=question.inputs)  # pyright: ignore[reportArgumentType]
    asked = find_probe(question.name, question.settings)
    return probe(
        subject.encoder, asked, train=read["train"], test=read["test"], dev=read.get("dev"), how=how, seed=question.seed
    ).results


def _similarities(subject: Subject, questions: Sequence[Similarity], corpora: Corpora) -> dict[str, Results]:
    """Pairs that are asked by the same measures are compared in one call, which reads each language once."""
    parallel = corpora.head(questions[0].corpus, questions[0].sentences)
    for question in questions:
        for language, digest in zip((question.source, question.target), question.digests, strict=True):
            refuse_changed(f"{question.corpus} ({language})", parallel[language].digest, digest)
    by_pair: dict[tuple[str, str], list[Similarity]] = {}
    for question in questions:
        by_pair.setdefault((question.source, question.target), []).append(question)
    by_measures: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for pair, alike in by_pair.items():
        by_measures.setdefault(tuple(question.measure for question in alike), []).append(pair)
    by_question: dict[str, Results] = {}
    state = "fine-tuned" if subject.model is not None else None
    for measures, pairs in by_measures.items():
        results = compare(
            subject.encoder, parallel, pairs=[f"{a}-{b}" for a, b in pairs], measures=measures, state=state
        )
        answers = {key: records for key, records in results.groups("source", "target", "measure")}
        for pair in pairs:
            for question in by_pair[pair]:
                by_question[question.id] = answers[question.source, question.target, question.measure]
    return by_question
