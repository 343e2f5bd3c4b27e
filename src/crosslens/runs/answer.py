"""Run the evaluations of a model or encoder."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosslens.corpora.translations import find_translations
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.swap import FromOther
from crosslens.encoders.states.patch import Patch
from crosslens.probes import find_probe
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.results.record import Results, concatenated
from crosslens.runs.corpora import Corpora, refuse_changed
from crosslens.runs.counts import Counts, key
from crosslens.runs.question import (
    CorpusRef,
    FittedScore,
    IntervenedScore,
    IntervenedSimilarity,
    Overlap,
    PatchedScore,
    ProbeQuestion,
    Question,
    Score,
    Similarity,
    SwappedScore,
)
from crosslens.similarity.compare import compare
from crosslens.similarity.overlap import subword_overlap
from crosslens.training.evaluate import evaluate_variants
from crosslens.training.intervene import Sources, intervened
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
        made: function from the id of a run to the folder of the encoder that it made; None: there are no such runs.
    """

    encoder: Encoder
    model: TaskModel | None = None
    pretrained: str | None = None
    made: Callable[[str], Path] | None = None


def answers(
    subject: Subject, questions: Sequence[Question], corpora: Corpora, *, note: Note = lambda _: None
) -> Iterator[tuple[Results, Counts]]:
    """Answer questions about a model or encoder, in groups that are computed together.

    Args:
        note: called with a log line after each step.

    Yields:
        Records of a group with the ids of their questions, and the counts of each sentence.

    Raises:
        StoreError: when data have changed since the questions were planned.
    """
    sources = Sources()  # of all similarities: they are of one model
    for group in _grouped(questions):
        first = group[0]
        if isinstance(first, Score):
            scores = [question for question in group if isinstance(question, Score)]
            yield from _scores(subject, scores, corpora, note)
            continue
        if isinstance(first, ProbeQuestion):
            answered = {first.id: _probe(subject, first, corpora)}
            note(f"probed {first.test.name}")
        elif isinstance(first, Similarity):
            similarities = [question for question in group if isinstance(question, Similarity)]
            answered = _similarities(subject, similarities, corpora, sources)
            note(f"compared {first.corpus}{_under(first)}")
        else:  # the perplexity of an encoder is measured as the encoder is made
            answered = {}
            overlaps = [question for question in group if isinstance(question, Overlap)]
            train = corpora.planned(overlaps[0].train, split="train")
            for overlap in overlaps:
                test = corpora.planned(overlap.test)
                answered[overlap.id] = subword_overlap(subject.encoder, train=train, tests=[test], limit=overlap.limit)
            note(f"counted subwords shared with {train.name}")
        yield concatenated(answered[each.id].with_columns(question=each.id) for each in group), {}


def _grouped(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Group the questions that are computed together: scores of the same weights, or those that share a corpus."""
    groups: dict[tuple[object, ...], list[Question]] = {}
    for question in questions:
        if isinstance(question, Similarity):
            key: tuple[object, ...] = (question.kind, question.corpus, question.sentences)
            if isinstance(question, IntervenedSimilarity):
                key += (question.condition, question.seed, question.reference)
        elif isinstance(question, Overlap):
            key = (question.kind, question.train)
        elif isinstance(question, Score):
            other = question.other if isinstance(question, SwappedScore) else None
            key = (Score.kind, _later(question, of_states=False).text, other)
        else:
            key = (question.id,)
        groups.setdefault(key, []).append(question)
    yield from groups.values()


def _later(question: Score | IntervenedSimilarity, *, of_states: bool = True) -> Condition:
    """The interventions on the states of the trained model, or those on its weights."""
    if not isinstance(question, IntervenedScore | IntervenedSimilarity):
        return Condition()
    parts = Condition.parse(question.condition).up_to("after training").interventions
    return Condition.of(tuple(part for part in parts if part.edits_states is of_states))


def _under(question: Question) -> str:
    """``" under noise=1 3.output"``; "" without interventions after training."""
    if not isinstance(question, IntervenedScore | IntervenedSimilarity):
        return ""
    return f" under {Condition.parse(question.condition).label}"


def _scores(
    subject: Subject, questions: Sequence[Score], corpora: Corpora, note: Note
) -> Iterator[tuple[Results, Counts]]:
    """Score the same weights under all interventions on states, one corpus after the other."""
    assert subject.model is not None
    model, sources = subject.model, Sources()
    exchanged = _later(questions[0], of_states=False)
    if isinstance(questions[0], SwappedScore):
        assert subject.made is not None
        made, parts = {"other": str(subject.made(questions[0].other))}, exchanged.interventions
        exchanged = Condition.of(tuple(p.model_copy(update=made) if isinstance(p, FromOther) else p for p in parts))
    if exchanged.interventions:
        model = intervened(model, [exchanged], sources, seed=model.seed, pretrained=subject.pretrained)
    variants: dict[tuple[object, ...], TaskModel] = {}

    def variant(question: Score) -> TaskModel:
        if not isinstance(question, IntervenedScore):
            return model
        reference = question.reference if isinstance(question, FittedScore) else None
        name = (question.condition, question.seed, reference)
        if name not in variants:
            split = "test" if isinstance(question, PatchedScore) else "train"
            source = corpora.planned(reference, split=split) if reference else None
            variants[name] = intervened(model, [_later(question)], sources, seed=question.seed, reference=source)
        return variants[name]

    by_corpus: dict[CorpusRef, list[Score]] = {}
    for question in questions:
        by_corpus.setdefault(question.corpus, []).append(question)
    for ref, of_corpus in by_corpus.items():
        corpus = corpora.planned(ref)
        for question in of_corpus:
            if isinstance(question, PatchedScore):
                _refuse_changed_translations(question, corpora)
        blocks, counts = [], Counts()
        evaluated = evaluate_variants([variant(question) for question in of_corpus], [corpus])
        for question, results in zip(of_corpus, evaluated, strict=True):
            columns: dict[str, str | None] = {"question": question.id}
            if isinstance(question, IntervenedScore):
                columns |= Condition.parse(question.condition).columns
            blocks.append(results.with_columns(**columns))
            counts |= {key(question.id, metric): array for (*_, metric), array in results.counts.items() if metric}
            note(f"evaluated {corpus.name}{_under(question)}")
        yield concatenated(blocks), counts


def _refuse_changed_translations(question: PatchedScore, corpora: Corpora) -> None:
    patch = Condition.parse(question.condition).find(Patch)
    assert patch is not None
    source, target = corpora.planned(question.reference), corpora.planned(question.corpus)
    translations = find_translations(source, target, words=patch.by == "words", links=patch.links)
    refuse_changed(f"the translation of {question.corpus.name}", translations.digest, question.translations)


def _probe(subject: Subject, question: ProbeQuestion, corpora: Corpora) -> Results:
    return probe(
        subject.encoder,
        find_probe(question.name, question.settings),
        train=corpora.planned(question.train, split="train"),
        test=corpora.planned(question.test, split="test"),
        dev=corpora.planned(question.dev, split="dev") if question.dev else None,
        how=Fit(inputs=question.inputs),
        seed=question.seed,
    ).results


def _similarities(
    subject: Subject, questions: Sequence[Similarity], corpora: Corpora, sources: Sources
) -> dict[str, Results]:
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
    first, against, columns = questions[0], None, {}
    if isinstance(first, IntervenedSimilarity):
        assert subject.model is not None
        reference = corpora.planned(first.reference, split="train") if first.reference else None
        changed = intervened(subject.model, [_later(first)], sources, seed=first.seed, reference=reference)
        against, columns = changed.encoder, Condition.parse(first.condition).columns
    by_question: dict[str, Results] = {}
    for measures, pairs in by_measures.items():
        named = [f"{source}-{target}" for source, target in pairs]
        results = compare(subject.encoder, parallel, pairs=named, measures=measures, against=against)
        results = results.with_columns(**columns)
        answers = {key: records for key, records in results.groups("source", "target", "measure")}
        for pair in pairs:
            for question in by_pair[pair]:
                by_question[question.id] = answers[question.source, question.target, question.measure]
    return by_question
