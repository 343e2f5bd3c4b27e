"""Plan a study: its runs, which of them are done, and which wait for other runs."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import cast

from pydantic import BaseModel

from crosslens.corpora.translations import are_parallel, find_translations, require_links
from crosslens.data.corpus import Corpus, trained_languages
from crosslens.data.language_pairs import expand_pairs, split_pair
from crosslens.encoders.condition import Condition
from crosslens.encoders.states.patch import Patch
from crosslens.errors import RequestError, suggest
from crosslens.probes import find_probe
from crosslens.progress import Listener, listening
from crosslens.runs.corpora import Corpora
from crosslens.runs.leakage import leakage_warnings
from crosslens.runs.question import (
    CorpusRef,
    FittedScore,
    IntervenedScore,
    IntervenedSimilarity,
    Overlap,
    PatchedScore,
    Perplexity,
    ProbeQuestion,
    Question,
    Score,
    Similarity,
    SwappedScore,
)
from crosslens.runs.run import AdaptRun, Asked, EncoderRun, ModelRun, PretrainRun, Training
from crosslens.runs.store import Store
from crosslens.settings import replace_settings
from crosslens.similarity.measures import DEFAULT_MEASURES
from crosslens.studies.base_encoders import BaseEncoders
from crosslens.studies.data_sets import find_data
from crosslens.studies.missing import (
    ChosenSource,
    Missing,
    MissingCorpora,
    find_missing,
    has_text,
    leave_out,
    reads_text,
)
from crosslens.studies.plan_checks import notes_on, refuse_shared_tests, refuse_two_languages
from crosslens.studies.study import Grid, Probing, Source, Study
from crosslens.tasks import Task, find_task
from crosslens.training.epochs import selecting_metric
from crosslens.training.recipe import BILSTM, Recipe

STATES = {"pretrained": Condition(), "untrained": Condition(layers="0,all")}
"""Encoders that are compared and probed without fine-tuning."""

Ask = Callable[[str | None, int | None], tuple[Question, ...]]
"""Function from the second language of a bilingual encoder (or None), and the seed of an encoder that the study
pretrains (or None), to the questions about the encoder."""


@dataclass(frozen=True)
class Plan:
    """The runs of a study and their state.

    Attributes:
        asked: runs with their questions, in the study's order and under its names. Sources with the same training data
            share runs, each listed under its own name.
        left: unfinished runs with their open questions, each run once.
        waiting: number of runs that wait for a hyperparameter search or for the pretraining of their encoder.
        notes: remarks for the reader, e.g. on scaled layers or chosen recipes.
        missing: missing corpora; what needs them is left out.
    """

    study: Study
    asked: tuple[Asked, ...]
    left: tuple[Asked, ...]
    waiting: int
    notes: tuple[str, ...]
    missing: tuple[Missing, ...] = ()

    @cached_property
    def runs(self) -> tuple[Asked, ...]:
        """Each run once, with all its questions."""
        return merged(self.asked)

    @property
    def done(self) -> int:
        """Number of finished runs."""
        return len(self.runs) - len(self.left)


def merged(asked: tuple[Asked, ...]) -> tuple[Asked, ...]:
    """Merge repeated runs: each run once, under its first name, with all its questions."""
    runs: dict[str, Asked] = {}
    for repeated in asked:
        first = runs.get(repeated.run.id, replace(repeated, questions=()))
        questions = {question.id: question for question in (*first.questions, *repeated.questions)}
        runs[repeated.run.id] = replace(first, questions=tuple(questions.values()))
    return tuple(runs.values())


def plan(
    study: Study,
    store: Store,
    *,
    corpora: Corpora | None = None,
    cache: str | Path | None = None,
    skip_missing: bool = False,
    progress: Listener = None,
) -> Plan:
    """Plan the runs of a study, as far as they are known now.

    The encoder and the corpora are loaded, because run ids depend on their content and not on their names.

    Args:
        cache: folder of encoders pretrained on artificial languages; None: the user's cache.
        skip_missing: whether to leave out targets, sources, probes and similarity whose corpora are missing, instead of
            refusing the study. The ids of the other runs do not change.
        progress: listener for the progress of planning, and of pretraining such an encoder.

    Returns:
        The runs, done and to do; runs that depend on unfinished ones are counted as waiting.

    Raises:
        RequestError: for unknown data, tasks, sources or layers, or a study that asks for nothing.
        DataError: if corpora are missing, nothing is left without them, or one lacks the annotation of its task.
    """
    listener = listening(progress)
    planner = _Planner(study, store, corpora or Corpora(), cache, listener, skip_missing=skip_missing)
    listener.report("planning", 0)
    asked = tuple(map(_of_its_encoder, planner.asked()))
    if not asked and not planner.waiting:
        hint = "give it data with tasks (data: muller2021), probes, or similarity of encoders"
        raise RequestError(f"{study.name} has nothing to run", hint=hint)
    notes = tuple(dict.fromkeys([*planner.notes, *notes_on(study, asked)]))
    return Plan(
        study, asked, unfinished(store, asked, models="models" in study.keep), planner.waiting, notes, planner.missing
    )


def unfinished(store: Store, asked: tuple[Asked, ...], *, models: bool = False) -> tuple[Asked, ...]:
    """Return the unfinished runs, each once, with the questions that the store has no answers to.

    Args:
        models: whether the fine-tuned models are to be kept.
    """
    missing = (store.missing(planned, models=models) for planned in merged(asked))
    return tuple(open_run for open_run in missing if open_run is not None)


class _Planner:
    """Resolves the parts of a study and builds its runs."""

    def __init__(
        self,
        study: Study,
        store: Store,
        corpora: Corpora,
        cache: str | Path | None,
        progress: Listener,
        *,
        skip_missing: bool,
    ):
        self.study, self.store, self.corpora = study, store, corpora
        self.data = find_data(study.data, tasks=study.tasks)
        of_tasks = {task: self.data.tasks.get(task, {}) for task in study.tasks or self.data.tasks}
        of = f" of {' or '.join(of_tasks)}" if study.tasks else ""
        for what, chosen, known in (
            ("task {!r}", study.tasks, self.data.tasks),
            (f"source {{!r}}{of}", study.sources, {name for sources in of_tasks.values() for name in sources}),
        ):
            for name in chosen or ():
                if name not in known:
                    reason = f"{study.name}: its data has no {what.format(name)}"
                    raise RequestError(reason, hint=suggest(name, known))
        self.waiting = 0
        self.notes: list[str] = []
        self.checked: set[tuple[str, str, str]] = set()
        self.leaks: dict[tuple[str, int | None, str | None, tuple[str, ...]], tuple[str, ...]] = {}
        sources = self._sources()
        self.missing = find_missing(study, sources, self.data, folder=corpora.data)
        self.absent = {missing.corpus for missing in self.missing}
        if self.missing and not skip_missing:
            raise MissingCorpora(study.name, self.missing, folder=corpora.data)
        if self.missing:
            self.study, self.data, self.notes = leave_out(study, sources, self.data, self.missing)
        self.notes += [
            f"{task} is left out, because it has none of the chosen sources"
            for task, of_task in of_tasks.items()
            if study.sources and of_task.keys().isdisjoint(study.sources)
        ]
        self.encoders = BaseEncoders(self.study, store, self.corpora, cache, progress)
        self.depth = self.encoders.depth
        of_study = [
            self.study.computed(scaled)
            for condition in self.study.conditions
            for scaled in self._of_this_depth(condition)
        ]
        self.conditions = list(
            dict.fromkeys(
                condition if condition.start in ("scratch", "bilstm") else condition.at(checkpoint)
                for checkpoint, condition in itertools.product(self.encoders.checkpoints, of_study)
            )
        )

    def _of_this_depth(self, condition: Condition) -> tuple[Condition, ...]:
        written_for, depth, heads = self.study.depth, self.depth, self.encoders.heads
        try:
            conditions = condition.each(written_for=written_for, depth=depth, heads=heads)
        except RequestError as error:
            raise RequestError(
                f"{self.study.name}: condition {condition.label}: {error.message}", hint=error.hint
            ) from error
        if written_for not in (None, depth):
            for before, after in zip(condition.interventions, conditions[0].interventions, strict=True):
                if before.acts_on is not None and not before.each(depth=depth, heads=heads):
                    self.notes.append(
                        f"layers {before.acts_on} of {self.study.depth} are layers {after.acts_on} of this encoder's"
                        f" {self.depth}"
                    )
        return conditions

    def _sources(self) -> list[ChosenSource]:
        """Task, name and corpora of each source that models are trained on."""
        study = self.study
        return [
            (task, name, source)
            for task, sources in self.data.tasks.items()
            for name, source in sources.items()
            if task in (study.tasks or self.data.tasks) and name in (study.sources or sources)
        ]

    def asked(self) -> Iterator[Asked]:
        """Yield all runs: those that make encoders, then comparisons and probes, then fine-tuning task by task."""
        study = self.study
        sources = self._sources()
        if any(map(reads_text, self.conditions)):
            refuse_shared_tests(study.name, sources, lambda source: self._tests(source, None))
        pretrained = list(self._pretrained()) if study.pretrains else []
        searched = list(self._pretrained_for_search(pretrained)) if study.pretrains else []
        producers = [*pretrained, *searched, *self._producer_runs([source for _, _, source in sources])]
        for run in producers:
            validated = isinstance(run, AdaptRun) or run.settings.validation is not None
            yield Asked(run, (Perplexity(),) if validated else ())
        yield from self._analyses(sources, pretrained)
        for partner, (task, name, source), condition in itertools.product(
            study.bilingual or [None], sources, self.conditions
        ):
            if has_text(source, condition, self.absent):
                yield from self._fine_tuning(task, name, source, condition, partner)

    def _fine_tuning(
        self, task: str, name: str, source: Source, condition: Condition, partner: str | None
    ) -> Iterator[Asked]:
        """Yield the models of one source under one condition, preceded by those of the hyperparameter search."""
        study = self.study
        full, condition = condition, condition.before
        trainings = [self._training(task, name, source, condition)]
        tuned = ()
        if study.grid is not None:
            own = study.grid.each == "condition" or condition.start == BILSTM  # the reference has another recipe
            searched = condition if own else study.computed(Condition())
            tried = list(self._tried(trainings[0], study.grid, searched, source, partner))
            yield from map(Asked, tried)
            trainings, tuned = self._chosen(tried, study.grid), study.grid.tuned
            if not trainings:
                self.waiting += study.grid.best * len(study.seeds) * len(study.select or [None])
                return
        selections = [selected for training in trainings for selected in self._selected(training, source)]
        few = (selected.recipe.few_steps(len(self._train(source))) for selected in selections)
        self.notes += [f"{task}, source {name}: {warning}" for warning in few if warning is not None]
        for limit, dev in dict.fromkeys(
            (each.recipe.limit, each.dev.name if each.dev else None) for each in selections
        ):
            self.notes += self._leakage(source.train, limit, dev, source.tests)
        for selected, seed in itertools.product(selections, study.seeds):
            base = self.encoders.base(condition, seed, source, partner, limit=selected.recipe.limit)
            if base is None:
                self.waiting += 1
                continue
            tests = [Score(test, selected.settings) for test in self._tests(source, partner, selected.value)]
            if full.other is not None:
                other = self.encoders.producer_run(full.other, seed, source, partner)
                if other is None or not self.store.path(other.id).is_dir():
                    self.waiting += 1
                    continue
                tests = [SwappedScore(score.corpus, score.settings, full.text, seed, other.id) for score in tests]
            elif full != condition:
                tests = [question for score in tests if (question := self._under(full, score, seed, selected, tests))]
            similarities: tuple[Similarity, ...] = ()
            state = "fine-tuned" if full == condition else "changed"
            if study.similarity is not None and state in study.similarity.of:
                similarities = self._similarities(self._source_languages(source), partner)
                if full != condition:
                    similarities = self._changed(full, similarities, seed, selected)
            yield Asked(ModelRun(base, condition, seed, selected, partner), (*tests, *similarities), tuned)

    def _under(
        self, condition: Condition, score: Score, seed: int, training: Training, tests: Sequence[Score]
    ) -> IntervenedScore | None:
        """Ask for a score under interventions after training; None where a patch has no translations."""
        settled = (score.corpus, score.settings, condition.text, seed)
        patch = condition.find(Patch)
        if patch is not None:
            target = self.corpora.planned(score.corpus)
            for test in tests:
                source = self.corpora.planned(test.corpus)
                if source.language in trained_languages(training.language) and are_parallel(source, target):
                    if patch.by == "words" and patch.links is None:
                        require_links(source, [target])
                    translations = find_translations(source, target, words=patch.by == "words", links=patch.links)
                    return PatchedScore(*settled, test.corpus, translations.digest)
            return None
        if any(part.reads_corpus for part in condition.interventions):
            return FittedScore(*settled, training.train)
        return IntervenedScore(*settled)

    def _changed(
        self, condition: Condition, similarities: Sequence[Similarity], seed: int, training: Training
    ) -> tuple[Similarity, ...]:
        """Ask for similarities under interventions on states; none for exchanged weights or translated states."""
        later = [part for part in condition.interventions if part.stage == "after training"]
        if not all(part.edits_states and not isinstance(part, Patch) for part in later):
            return ()
        reference = training.train if any(part.reads_corpus for part in later) else None
        return tuple(
            IntervenedSimilarity(**asdict(similarity), condition=condition.text, seed=seed, reference=reference)
            for similarity in similarities
        )

    def _analyses(self, sources: list[ChosenSource], pretrained: list[PretrainRun]) -> Iterator[Asked]:
        """Yield the questions about encoders that are not fine-tuned."""
        similarity = self.study.similarity
        languages = list(dict.fromkeys(tag for *_, source in sources for tag in self._source_languages(source)))
        for state in similarity.of if similarity is not None else ():
            if state in STATES:
                yield from self._encoder_runs(
                    STATES[state], pretrained, lambda partner, _: self._similarities(languages, partner)
                )
        for probing in self.study.probes:
            question = self._probe(probing)
            probed_runs = self._able_to_read(question, pretrained)
            for state in probing.of:

                def probed(
                    partner: str | None, seed: int | None, question: ProbeQuestion = question
                ) -> tuple[Question, ...]:
                    return (question if seed is None else replace(question, seed=seed),)

                yield from self._encoder_runs(STATES[state], probed_runs, probed)
        for task, _, source in sources if self.study.overlap else ():
            limit = self.study.recipe_of(task, Condition(), default=self.data.recipe).limit
            of_source = partial(Overlap, self._ref(source.train, "train"), limit=limit)

            def overlaps(
                partner: str | None,
                seed: int | None,
                of_source: Callable[[CorpusRef], Overlap] = of_source,
                source: Source = source,
            ) -> tuple[Question, ...]:
                return tuple(map(of_source, self._tests(source, partner)))

            yield from self._encoder_runs(Condition(), pretrained, overlaps)

    def _encoder_runs(self, condition: Condition, pretrained: list[PretrainRun], ask: Ask) -> Iterator[Asked]:
        untrained = condition != Condition()
        seeds = self.study.seeds if untrained else (1,)  # each seed has its own untrained encoder
        condition = self.study.computed(condition.scaled(written_for=None, depth=self.depth))
        beginnings = [(Condition(), seed, None) for seed in seeds] if self.encoders.existing is not None else []
        for run in pretrained:
            several = untrained and self.study.pretrained == "one"
            beginnings += [(run.condition, seed, run.partner) for seed in (seeds if several else [run.settings.seed])]
        for (before, seed, partner), checkpoint in itertools.product(beginnings, self.encoders.checkpoints):
            combined = Condition.of((*before.interventions, *condition.interventions)).at(checkpoint)
            base = self.encoders.base(combined.up_to("pretraining"), seed, partner=partner)
            if base is None:
                self.waiting += 1
                continue
            made = seed if self.study.pretrains else None
            yield Asked(EncoderRun(base, combined, seed, partner), ask(partner, made))

    def _able_to_read(self, question: ProbeQuestion, pretrained: list[PretrainRun]) -> list[PretrainRun]:
        """Leave out encoders with parameters for each language where the language of a probe's texts is not known."""
        names = (question.train.name, question.test.name)
        unknown = [name for name in names if self.corpora.corpus(name).language is None]
        unable = [run for run in pretrained if unknown and run.settings.separate_layers]
        if unable:
            conditions = ", ".join(dict.fromkeys(run.condition.label for run in unable))
            self.notes.append(
                f"probe {question.name}: not of {conditions}, whose encoders have separate parameters for each"
                f" language: the language of the texts in {unknown[0]} is their label"
            )
        return [run for run in pretrained if run not in unable]

    def _probe(self, probing: Probing) -> ProbeQuestion:
        probe = find_probe(probing.probe, probing.set)
        settings = cast(BaseModel, probe).model_dump(mode="json")
        dev = self._ref(probing.dev, "dev") if probing.dev else None
        train, test = self._ref(probing.train, "train"), self._ref(probing.test, "test")
        return ProbeQuestion(probing.probe, settings, train, test, dev, probing.inputs, probing.seed)

    def _tests(self, source: Source, partner: str | None, task: Task | None = None) -> tuple[CorpusRef, ...]:
        """Test corpora of a source, labelled for a task; for a bilingual encoder, only those in its two languages."""
        matching = self.corpora.matching(source.tests)
        refuse_two_languages(self.corpora.corpus(test).name for test in matching)
        tests = [
            test
            for test in matching
            if partner is None or self.corpora.corpus(test).language in (partner, *self._source_languages(source))
        ]
        if task is not None:
            for test in tests:
                self._labelled(task, test)
        return tuple(map(self._ref, tests))

    def _pretrained(self) -> Iterator[PretrainRun]:
        """Yield the pretraining runs, each once."""
        factors = list(dict.fromkeys(condition.up_to("pretraining") for condition in self.conditions))
        runs: dict[str, PretrainRun] = {}
        for partner, factor, seed in itertools.product(self.study.bilingual or [None], factors, self.study.seeds):
            run = self.encoders.pretraining(factor, seed, partner)
            runs.setdefault(run.id, run)
        yield from runs.values()

    def _pretrained_for_search(self, pretrained: list[PretrainRun]) -> Iterator[PretrainRun]:
        """Yield the other pretraining runs that the hyperparameter search needs, whose seed may be one of its own."""
        grid = self.study.grid
        if grid is None:
            return
        searched = [Condition()]
        if grid.each == "condition":
            searched = list(dict.fromkeys(condition.up_to("pretraining") for condition in self.conditions))
        known = {run.id for run in pretrained}
        for partner, factor in itertools.product(self.study.bilingual or [None], searched):
            run = self.encoders.pretraining(factor, grid.seed, partner)
            if run.id not in known:
                known.add(run.id)
                yield run

    def _producer_runs(self, sources: list[Source]) -> Iterator[PretrainRun | AdaptRun]:
        """Yield the runs that adapt the encoder to raw text or pretrain one on that text alone, each once."""
        seeds = list(self.study.seeds)
        if self.study.grid is not None and self.study.grid.each == "condition":
            seeds.append(self.study.grid.seed)
        runs: dict[str, PretrainRun | AdaptRun] = {}
        for partner, condition, seed, source in itertools.product(
            self.study.bilingual or [None], self.conditions, seeds, sources
        ):
            for made in (condition, condition.other) if has_text(source, condition, self.absent) else ():
                run = made and self.encoders.producer_run(made, seed, source, partner)
                if run is not None:
                    runs[run.id] = run
        yield from runs.values()

    def _train(self, source: Source) -> Corpus:
        return self.corpora.corpus(source.train, split="train")

    def _source_languages(self, source: Source) -> tuple[str, ...]:
        return trained_languages(self._train(source).language)

    def _labelled(self, task: Task, name: str, split: str = "test") -> Corpus:
        """Load a corpus, and check its annotation: runs would find that it lacks some only after their training."""
        corpus = self.corpora.corpus(name, split=split)
        if (task.name, name, split) not in self.checked:
            task.check(corpus)
            self.checked.add((task.name, name, split))
        return corpus

    def _dev(self, task: Task, recipe: Recipe, name: str) -> Corpus:
        """Load development data, and check that the task has the score that selects epochs on them."""
        dev = self._labelled(task, name, "dev")
        if recipe.select_by is not None:
            selecting_metric(task, recipe, dev)
        return dev

    def _leakage(self, train: str, limit: int | None, dev: str | None, tests: Sequence[str]) -> tuple[str, ...]:
        """Warnings of test items in training data, which many conditions share: each pair is searched once."""
        searched = (train, limit, dev, tuple(tests))
        if searched not in self.leaks:
            matching = map(self.corpora.corpus, self.corpora.matching(tests))
            trained = self.corpora.corpus(train, split="train")
            selecting = self.corpora.corpus(dev, split="dev") if dev else None
            self.leaks[searched] = tuple(leakage_warnings(trained, matching, limit=limit, dev=selecting))
        return self.leaks[searched]

    def _ref(self, name: str, split: str = "test") -> CorpusRef:
        return CorpusRef.of(self.corpora.corpus(name, split=split))

    def _training(self, task: str, name: str, source: Source, condition: Condition) -> Training:
        recipe = self.study.recipe_of(task, condition, default=self.data.recipe)
        chosen = find_task(task, recipe.task)
        train = self._labelled(chosen, source.train, "train")
        dev = self._dev(chosen, recipe, source.dev_corpus) if self.study.reads_dev(recipe) else None
        return Training(
            task,
            dict(chosen.settings),
            name,
            train.language,
            self._ref(source.train, "train"),
            _reference(dev),
            recipe,
            recipe.selection(train=train, dev=dev),
            source.translated_from,
        )

    def _selected(self, training: Training, source: Source) -> Iterator[Training]:
        """Yield the training under each of the study's selection rules."""
        rules = self.study.select or ()
        if not rules:
            yield training
        for rule in rules:
            recipe = replace_settings(training.recipe, {"select": rule.rule}, what="a selection")
            train, dev = self._train(source), None
            if rule.oracle and recipe.schedule == "plateau":
                raise RequestError(
                    f"{self.study.name}: with a plateau schedule, the labels of {rule.oracle} would set the learning"
                    " rate, not only select the epoch",
                    hint="choose another schedule, such as `set: {schedule: linear}`",
                )
            if recipe.needs_dev:
                dev = self._dev(training.value, recipe, rule.oracle or source.dev_corpus)
            if rule.oracle and dev is not None and dev.language in trained_languages(train.language):
                raise RequestError(
                    f"{self.study.name}: {rule.oracle} is in the language of {train.name}, which is trained on, so it"
                    " is not an oracle",
                    hint="use `select: best`, or a study without this source",
                )
            selection = rule.label if rule.oracle else recipe.selection(train=train, dev=dev)
            compared = (*training.compared, "select") if len(rules) > 1 else training.compared
            yield replace(training, recipe=recipe, dev=_reference(dev), selection=selection, compared=compared)

    def _tried(
        self, training: Training, grid: Grid, condition: Condition, source: Source, partner: str | None
    ) -> Iterator[ModelRun]:
        training = replace(training, compared=tuple(axis for axis, values in grid.axes.items() if len(values) > 1))
        for values in itertools.product(*grid.axes.values()):
            settings = dict(zip(grid.axes, values, strict=True))
            recipe: Recipe = replace_settings(training.recipe, settings, what="a grid")
            base = self.encoders.base(condition, grid.seed, source, partner, limit=recipe.limit)
            if base is None:
                self.waiting += 1
                continue
            yield ModelRun(base, condition, grid.seed, replace(training, recipe=recipe), partner)

    def _chosen(self, tried: list[ModelRun], grid: Grid) -> list[Training]:
        """The trainings with the best scores on the source's dev data (the first if tied); none while runs are open."""
        if any(not self.store.path(run.id).is_dir() for run in tried):
            return []
        scores = [self.store.describe(run.id)["facts"]["dev_score"] for run in tried]
        ranked = sorted(zip(scores, tried, strict=True), key=lambda each: -each[0])[: grid.best]
        for place, (score, run) in enumerate(ranked, 1):
            settings = ", ".join(f"{axis}={getattr(run.training.recipe, axis)}" for axis in grid.axes)
            rank = "best" if place == 1 else f"best ({place})"
            label = replace(run, training=replace(run.training, compared=())).label
            self.notes.append(f"{label}: {settings} has the {rank} dev score, {score:.2f} (of {len(tried)} tried)")
        return [run.training for _, run in ranked]

    def _similarities(self, sources: Sequence[str], partner: str | None = None) -> tuple[Similarity, ...]:
        comparison, name = self.study.similarity, self.data.parallel
        assert comparison is not None
        if name is None:
            raise RequestError(
                f"{self.study.name}: its data has no parallel corpus for similarity", hint="set data.parallel"
            )
        parallel = self.corpora.head(name, comparison.sentences)
        patterns = [f"{source}-*" for source in sources if source in parallel.languages]
        pairs = [split_pair(pair, parallel.languages) for pair in expand_pairs(patterns, parallel.languages)]
        pairs = [pair for pair in pairs if partner is None or partner in pair]
        if not pairs:
            raise RequestError(
                f"{name} has no sentences in the source languages ({', '.join(sources) or 'unknown'})",
                hint="choose another parallel corpus",
            )
        return tuple(
            Similarity(name, a, b, (parallel[a].digest, parallel[b].digest), measure, comparison.sentences)
            for a, b in pairs
            for measure in comparison.measures or DEFAULT_MEASURES
        )


def _of_its_encoder(asked: Asked) -> Asked:
    """The questions as they are asked about the encoder of the run."""
    if not isinstance(asked.run, EncoderRun | ModelRun):
        return asked
    return replace(asked, questions=tuple(map(asked.run.base.question, asked.questions)))


def _reference(corpus: Corpus | None) -> CorpusRef | None:
    return CorpusRef.of(corpus) if corpus is not None else None
