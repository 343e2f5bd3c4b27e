"""From a study to its runs: which there are, which are done, and what is still to be chosen."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from crosslens.corpora.catalogue import name_split
from crosslens.data.corpus import Corpus
from crosslens.data.language_pairs import expand_pairs, split_pair
from crosslens.encoders.condition import Condition
from crosslens.errors import RequestError, suggest
from crosslens.probes import find_probe
from crosslens.progress import Listener, listening
from crosslens.runs.corpora import Corpora
from crosslens.runs.question import CorpusRef, Overlap, Perplexity, ProbeQuestion, Question, Score, Similarity
from crosslens.runs.run import Asked, EncoderRun, ModelRun, PretrainRun, Training
from crosslens.runs.store import Store
from crosslens.settings import replace_settings
from crosslens.similarity.measures import DEFAULT_MEASURES as USUAL_MEASURES
from crosslens.similarity.measures import find_measure
from crosslens.studies.base_encoders import BaseEncoders
from crosslens.studies.data_sets import find_data
from crosslens.studies.study import Grid, Probing, Source, Study
from crosslens.tasks import find_task
from crosslens.training.recipe import BILSTM, Recipe, find_recipe

STATES = {"pretrained": Condition(), "untrained": Condition(layers="0,all")}
"""Encoders that are looked at without any training."""

Ask = Callable[[str | None], tuple[Question, ...]]
"""The questions for an encoder, by the other language of a bilingual one."""


@dataclass(frozen=True)
class Plan:
    """The runs of a study, and where they stand.

    Attributes:
        study: the study.
        asked: its runs and what it asks of each, in its order, under its names. Sources with the same training data
            have the same runs, each under its own name.
        left: what is still to be done, each run once.
        waiting: runs that wait for a search for their recipe to end, or for their encoder to be pretrained.
        notes: what the reader should know, such as layers that were scaled, or recipes that were chosen.
    """

    study: Study
    asked: tuple[Asked, ...]
    left: tuple[Asked, ...]
    waiting: int
    notes: tuple[str, ...]

    @cached_property
    def runs(self) -> tuple[Asked, ...]:
        """Each run once, with all that is asked of it."""
        return merged(self.asked)

    @property
    def done(self) -> int:
        """How many runs are done."""
        return len(self.runs) - len(self.left)


def merged(asked: tuple[Asked, ...]) -> tuple[Asked, ...]:
    """Each run once, under the first of its names, with all that is asked of it."""
    runs: dict[str, Asked] = {}
    for each in asked:
        known = runs.get(each.run.id, replace(each, questions=()))
        questions = {question.id: question for question in (*known.questions, *each.questions)}
        runs[each.run.id] = replace(known, questions=tuple(questions.values()))
    return tuple(runs.values())


def plan(
    study: Study,
    store: Store,
    *,
    corpora: Corpora | None = None,
    cache: str | Path | None = None,
    progress: Listener = None,
) -> Plan:
    """The runs of a study, as far as they can be known now.

    The encoder and the corpora are read, because a run is known by what is in them and not by their names.

    Args:
        study: the study.
        store: where finished runs are.
        corpora: keeps what was read.
        cache: folder of encoders that are pretrained on artificial languages; None: the user's.
        progress: hears how far planning is, and the pretraining of such an encoder.

    Raises:
        RequestError: for data, a task, a source or layers that there are not.
    """
    listener = listening(progress)
    planner = _Planner(study, store, corpora or Corpora(), cache, listener)
    listener.report("planning", 0)
    asked = tuple(planner.asked())
    notes = tuple(dict.fromkeys([*planner.notes, *_shared(asked), *_of_one_encoder(asked)]))
    return Plan(study, asked, unfinished(store, asked), planner.waiting, notes)


def unfinished(store: Store, asked: tuple[Asked, ...]) -> tuple[Asked, ...]:
    """What is not done in a store now: each run once, with the questions that it has not answered."""
    return tuple(left for each in merged(asked) if (left := store.missing(each)) is not None)


def _shared(asked: tuple[Asked, ...]) -> Iterator[str]:
    """Notes on sources that have the same training data."""
    sources: dict[tuple[str, str], dict[str, str]] = {}
    for run in (each.run for each in asked):
        if isinstance(run, ModelRun):
            training = run.training
            sources.setdefault((training.task, training.train.digest), {})[training.source] = training.train.name
    for (task, _), names in sources.items():
        if len(names) > 1:
            described = ", ".join(f"{source} ({train})" for source, train in names.items())
            yield f"{task}: these sources have the same training data, and share their runs: {described}"


def _of_one_encoder(asked: tuple[Asked, ...]) -> Iterator[str]:
    """Notes on conditions of which all seeds begin with one encoder, which the study made."""
    seeds: dict[tuple[str, bool], set[int]] = {}
    for run in (each.run for each in asked):
        if isinstance(run, ModelRun) and run.base.made and run.base.shared:
            own = run.condition.start != "encoder"
            seeds.setdefault((run.condition.label, own), set()).add(run.seed)
    for (label, own), known in seeds.items():
        if len(known) > 1:
            setting, what = ("starts", "such encoders") if own else ("pretrained", "pretrained encoders")
            yield (
                f"{label}: all {len(known)} seeds begin with one encoder; how {what} differ from seed to seed is in no"
                f" interval and no test ({setting}: one)"
            )


class _Planner:
    """The study's parts looked up, and its runs made of them."""

    def __init__(self, study: Study, store: Store, corpora: Corpora, cache: str | Path | None, progress: Listener):
        self.study, self.store, self.corpora = study, store, corpora
        self.data = find_data(study.data, tasks=study.tasks)
        for what, chosen, known in (
            ("tasks", study.tasks, self.data.tasks),
            ("sources", study.sources, {name for sources in self.data.tasks.values() for name in sources}),
        ):
            for name in chosen or ():
                if name not in known:
                    raise RequestError(f"{study.name}: its data has no {what[:-1]} {name!r}", hint=suggest(name, known))
        self.waiting = 0
        self.notes: list[str] = []
        self.starts = BaseEncoders(study, store, self.corpora, cache, progress)
        self.depth = self.starts.depth
        self.conditions = list(dict.fromkeys(self._scaled(condition) for condition in study.conditions))

    def _scaled(self, condition: Condition) -> Condition:
        scaled = condition.scaled(written_for=self.study.depth, depth=self.depth)
        if self.study.depth not in (None, self.depth):
            for before, after in zip(condition.interventions, scaled.interventions, strict=True):
                if before.acts_on is not None:
                    self.notes.append(
                        f"layers {before.acts_on} of {self.study.depth} are layers {after.acts_on} of this encoder's"
                        f" {self.depth}"
                    )
        return scaled

    def asked(self) -> Iterator[Asked]:
        """All runs: those that make encoders first, then comparisons, then task by task."""
        study = self.study
        tasks = {task: sources for task, sources in self.data.tasks.items() if task in (study.tasks or self.data.tasks)}
        sources = [
            (task, name, source)
            for task, by_name in tasks.items()
            for name, source in by_name.items()
            if name in (study.sources or by_name)
        ]
        pretrained = list(self._pretrained()) if study.pretrains else []
        making = [*pretrained, *self._making([source for _, _, source in sources])]
        yield from (Asked(run, (Perplexity(),)) for run in making)
        yield from self._looked_at_all(sources, pretrained)
        for partner, (task, name, source), condition in itertools.product(
            study.bilingual or [None], sources, self.conditions
        ):
            yield from self._trained(task, name, source, condition, partner)

    def _trained(
        self, task: str, name: str, source: Source, condition: Condition, partner: str | None
    ) -> Iterator[Asked]:
        """The models of one source under one condition, and first those that a search for its recipe needs."""
        study = self.study
        training = self._training(task, name, source, condition)
        if study.grid is not None:
            searched = condition if study.grid.each == "condition" else Condition()
            tried = list(self._tried(training, study.grid, searched, source))
            yield from map(Asked, tried)
            chosen = self._chosen(tried)
            if chosen is None:
                self.waiting += len(study.seeds) * len(study.select or [None])
                return
            training = chosen
        for selected, seed in itertools.product(list(self._selected(training, source)), study.seeds):
            base = self.starts.base(condition, seed, source, partner, limit=selected.recipe.limit)
            if base is None:
                self.waiting += 1
                continue
            tests = tuple(Score(test, selected.settings) for test in self._tests(source, partner))
            after = ()
            if study.similarity is not None and "fine-tuned" in study.similarity.of:
                after = self._similarities([self._train(source).language], partner)
            yield Asked(ModelRun(base, condition, seed, selected, partner), (*tests, *after))

    def _looked_at_all(self, sources: list[tuple[str, str, Source]], pretrained: list[PretrainRun]) -> Iterator[Asked]:
        """All that is asked of encoders that are not fine-tuned."""
        similarity = self.study.similarity
        languages = list(dict.fromkeys(self._train(source).language for _, _, source in sources))
        for state in similarity.of if similarity is not None else ():
            if state in STATES:
                yield from self._looked_at(
                    STATES[state], pretrained, lambda partner: self._similarities(languages, partner)
                )
        for probing in self.study.probes:
            question = self._probe(probing)
            for state in probing.of:
                yield from self._looked_at(STATES[state], pretrained, lambda _, question=question: (question,))
        for _, _, source in sources if self.study.overlap else ():
            train = self._ref(source.train, "train")

            def overlaps(
                partner: str | None, train: CorpusRef = train, source: Source = source
            ) -> tuple[Question, ...]:
                return tuple(Overlap(train, test) for test in self._tests(source, partner))

            yield from self._looked_at(Condition(), pretrained, overlaps)

    def _looked_at(self, condition: Condition, pretrained: list[PretrainRun], ask: Ask) -> Iterator[Asked]:
        condition = condition.scaled(written_for=None, depth=self.depth)
        if self.starts.given is not None:
            yield Asked(EncoderRun(self.starts.given, condition, 1), ask(None))
        for run in pretrained:
            seed = run.settings.seed
            base = self.starts.base(run.condition, seed, partner=run.partner)
            if base is None:
                self.waiting += 1
                continue
            both = Condition.of((*run.condition.interventions, *condition.interventions))
            yield Asked(EncoderRun(base, both, seed, run.partner), ask(run.partner))

    def _probe(self, asked: Probing) -> ProbeQuestion:
        probe = find_probe(asked.probe, asked.set)
        settings = probe.model_dump(mode="json")  # pyright: ignore[reportAttributeAccessIssue]
        dev = self._ref(asked.dev, "dev") if asked.dev else None
        train, test = self._ref(asked.train, "train"), self._ref(asked.test, "test")
        return ProbeQuestion(asked.probe, settings, train, test, dev, asked.inputs, asked.seed)

    def _tests(self, source: Source, partner: str | None) -> tuple[CorpusRef, ...]:
        """The corpora that a source's models are tested on; of a bilingual encoder those of its two languages."""
        return tuple(
            self._ref(test)
            for test in self.corpora.matching(source.tests)
            if partner is None or self.corpora.corpus(test).language in (partner, self._train(source).language)
        )

    def _pretrained(self) -> Iterator[PretrainRun]:
        """The runs that pretrain, each once."""
        factors = list(dict.fromkeys(condition.up_to("pretraining") for condition in self.conditions))
        known = set()
        for partner, factor, seed in itertools.product(self.study.bilingual or [None], factors, self.study.seeds):
            run = self.starts.pretraining(factor, seed, partner)
            if run.id not in known:
                known.add(run.id)
                yield run

    def _making(self, sources: list[Source]):
        """The runs that adapt the encoder to a source's raw text, or make one from that alone; each once."""
        seeds = list(self.study.seeds)
        if self.study.grid is not None and self.study.grid.each == "condition":
            seeds.append(self.study.grid.seed)
        asked = itertools.product(self.study.bilingual or [None], self.conditions, seeds, sources)
        made = {}
        for partner, condition, seed, source in asked:
            run = self.starts.making(condition, seed, source, partner)
            if run is not None:
                made[run.id] = run
        yield from made.values()

    def _train(self, source: Source) -> Corpus:
        return self.corpora.corpus(source.train, split="train")

    def _ref(self, name: str, split: str = "test") -> CorpusRef:
        corpus = self.corpora.corpus(name, split=split)
        return CorpusRef(corpus.name, corpus.digest)

    def _training(self, task: str, name: str, source: Source, condition: Condition) -> Training:
        own = condition.recipe or (BILSTM if condition.start == BILSTM else self.study.recipe)
        recipe = find_recipe(own or self.data.recipe, task, self.study.set)
        dev = None
        if recipe.select == "best" or recipe.schedule == "plateau" or self.study.grid is not None:
            dev = self._ref(self._dev(source), "dev")
        return Training(
            task, dict(find_task(task, recipe.task).settings), name, self._train(source).language,
            self._ref(source.train, "train"), dev, recipe, recipe.select, source.translated_from,
        )  # fmt: skip

    def _selected(self, training: Training, source: Source) -> Iterator[Training]:
        """The training under every rule of selection that the study names."""
        rules = self.study.select or ()
        if not rules:
            yield training
        for rule in rules:
            recipe = replace_settings(training.recipe, {"select": rule.rule}, what="a selection")
            dev = None
            if rule.rule == "best":
                dev = self._ref(rule.oracle or self._dev(source), "dev")
            if rule.oracle and self.corpora.corpus(rule.oracle, split="dev").language == self._train(source).language:
                raise RequestError(
                    f"{self.study.name}: {rule.oracle} is of the source's language, and no oracle", hint="that is best"
                )
            yield replace(training, recipe=recipe, dev=dev, selection=rule.label)

    def _dev(self, source: Source) -> str:
        return source.dev or name_split(source.train, "dev")

    def _tried(self, training: Training, grid: Grid, condition: Condition, source: Source) -> Iterator[ModelRun]:
        for values in itertools.product(*grid.axes.values()):
            settings = dict(zip(grid.axes, values, strict=True))
            recipe: Recipe = replace_settings(training.recipe, settings, what="a grid")
            base = self.starts.base(condition, grid.seed, source, limit=recipe.limit)
            if base is None:
                self.waiting += 1
                continue
            yield ModelRun(base, condition, grid.seed, replace(training, recipe=recipe))

    def _chosen(self, tried: list[ModelRun]) -> Training | None:
        """The training that did best on the source's dev data, the first of equals; None while some are not done."""
        scores = []
        for run in tried:
            if not self.store.path(run.id).is_dir():
                return None
            scores.append(self.store.describe(run.id)["facts"]["dev_score"])
        if not scores:
            return None
        best = tried[scores.index(max(scores))]
        axes = self.study.grid.axes if self.study.grid else ()
        chosen = ", ".join(f"{axis}={getattr(best.training.recipe, axis)}" for axis in axes)
        self.notes.append(f"{best.label}: {chosen} has the best dev score, {max(scores):.2f} (of {len(tried)} tried)")
        return best.training

    def _similarities(self, sources: list[str | None], partner: str | None = None) -> tuple[Question, ...]:
        asked, name = self.study.similarity, self.data.parallel
        assert asked is not None
        if name is None:
            raise RequestError(f"{self.study.name}: its data has no parallel corpus to compare representations on")
        for measure in asked.measures or ():
            find_measure(measure)
        parallel = self.corpora.head(name, asked.sentences)
        wanted = [f"{source}-*" for source in sources if source in parallel.languages]
        pairs = [split_pair(pair, parallel.languages) for pair in expand_pairs(wanted, parallel.languages)]
        pairs = [pair for pair in pairs if partner is None or partner in pair]
        if not pairs:
            raise RequestError(f"{name} has none of the sources ({', '.join(map(str, sources))})")
        return tuple(
            Similarity(name, a, b, (parallel[a].digest, parallel[b].digest), measure, asked.sentences)
            for a, b in pairs
            for measure in asked.measures or USUAL_MEASURES
        )
