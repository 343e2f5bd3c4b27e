"""Checks of a plan: what is refused before any run, and notes for the reader."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from crosslens.encoders.interventions.start import ADAPTED
from crosslens.errors import RequestError
from crosslens.runs.question import CorpusRef, Score
from crosslens.runs.run import Asked, ModelRun
from crosslens.studies.missing import ChosenSource
from crosslens.studies.study import Source, Study


def refuse_shared_tests(
    study: str, sources: Iterable[ChosenSource], tests_of: Callable[[Source], Iterable[CorpusRef]]
) -> None:
    """Refuse test corpora for several encoders made from different text: records do not name the text.

    Raises:
        RequestError: naming two sources, their texts and the corpus.
    """
    tested: dict[tuple[str, str, CorpusRef], tuple[str, str]] = {}
    for task, name, source in sources:
        if source.text is None:
            continue
        for test in tests_of(source):
            other, text = tested.setdefault((task, source.train, test), (name, source.text))
            if text != source.text:
                raise RequestError(
                    f"{study}: {other} and {name} test encoders made from {text} and {source.text} on {test.name}, and"
                    " results could not tell these scores apart",
                    hint="name this test corpus under one of them, or make a study of each",
                )


def refuse_two_languages(tests: Iterable[str]) -> None:
    """Refuse a test corpus that is named in two languages: ids of most questions have no language, so one answer each.

    Raises:
        RequestError: naming the corpus.
    """
    for name, count in Counter(tests).items():
        if count > 1:
            raise RequestError(
                f"{name} is a test corpus in {count} languages", hint="name each file once, in its own language"
            )


def notes_on(study: Study, asked: Sequence[Asked]) -> Iterator[str]:
    """Yield notes on the settings of a study, and on the runs of its plan."""
    yield from _unused(study)
    yield from _shared(asked)
    yield from _trained_on(asked)
    yield from _of_one_encoder(asked)
    yield from _without_language(asked)


def _unused(study: Study) -> Iterator[str]:
    """Yield a note on each setting that differs from its default, but which no condition of the study uses."""
    starts = {condition.start for condition in study.conditions}
    starts |= {ADAPTED for condition in study.conditions if condition.other is not None}  # parts of adapted encoders
    needs = {
        "adaptation": (ADAPTED in starts, "no condition starts from an adapted encoder (start: adapted)"),
        "scratch": (
            "scratch" in starts,
            "no condition pretrains an encoder from scratch (start: scratch)",
        ),
        "starts": (
            not starts.isdisjoint((ADAPTED, "scratch")),
            "no condition starts from an adapted encoder or one pretrained from scratch (start: adapted or scratch)",
        ),
        "pretrained": (study.pretrains, "the study pretrains no encoders (encoder: pretrain:SETTINGS)"),
    }
    for setting, (used, reason) in needs.items():
        if not used and getattr(study, setting) != Study.model_fields[setting].default:
            yield f"{setting} has no effect: {reason}"
    for factor in study.factors:
        if factor not in {condition.factor for condition in study.conditions}:
            yield f"factors: {factor} has no effect: no condition has this factor"


def _shared(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield notes on sources with the same training data, unless an encoder reads them in two languages."""
    sources: dict[tuple[str, str, str | None], dict[str, str]] = {}
    for run in (planned.run for planned in asked):
        if isinstance(run, ModelRun):
            training = run.training
            language = training.language if run.base.language_specific else None
            trained = (training.task, training.train.digest, language)
            sources.setdefault(trained, {})[training.source] = training.train.name
    for (task, *_), names in sources.items():
        if len(names) > 1:
            described = ", ".join(f"{source} ({train})" for source, train in names.items())
            yield f"{task}: these sources have the same training data and share their runs: {described}"


def _trained_on(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield notes on test corpora that are the training corpus, by the same name: a copy may be meant."""
    for planned in asked:
        if isinstance(planned.run, ModelRun):
            training = planned.run.training
            tests = (question.corpus for question in planned.questions if isinstance(question, Score))
            yield from training.warnings(test for test in tests if test.name in training.train_names)


def _of_one_encoder(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield notes on conditions whose seeds all start from one encoder made by the study."""
    seeds: dict[tuple[str, bool], set[int]] = {}
    for run in (planned.run for planned in asked):
        if isinstance(run, ModelRun) and run.base.made and run.base.shared:
            produced = run.condition.start != "encoder"
            seeds.setdefault((run.condition.label, produced), set()).add(run.seed)
    for (label, produced), shared in seeds.items():
        if len(shared) > 1:
            setting, what = ("starts", "such encoders") if produced else ("pretrained", "pretrained encoders")
            yield (
                f"{label}: all {len(shared)} seeds start from one encoder; intervals and tests do not include variation"
                f" between {what} ({setting}: one)"
            )


def _without_language(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield a note on each corpus without a language; the name of a source in the study is not a language."""
    for planned in asked:
        if isinstance(planned.run, ModelRun):
            training = planned.run.training
            if training.language is None:
                yield (
                    f"{training.task}: the language of {training.train.name} is unknown, so source {training.source} is"
                    " left out of most tables of a report: name it, as in fr=FILE"
                )
            for question in planned.questions:
                if isinstance(question, Score) and question.corpus.language is None:
                    name = question.corpus.name
                    yield f"{name}: language unknown, so its scores are in no mean: name it, as in fr={name}"
