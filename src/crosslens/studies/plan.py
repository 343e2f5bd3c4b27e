"""From a study to its runs: which there are, which are done, and what is still to be chosen."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from crosslens.catalogue import name_split
from crosslens.data.pairs import expand_pairs, split_pair
from crosslens.errors import RequestError, suggest
from crosslens.probes import find_probe
from crosslens.progress import Listener, listening
from crosslens.settings import replace_settings
from crosslens.similarity.measures import USUAL as USUAL_MEASURES
from crosslens.similarity.measures import find_measure
from crosslens.studies.condition import Condition
from crosslens.studies.corpora import Corpora, find_data
from crosslens.studies.execute import side
from crosslens.studies.run import Comparison, Named, Overlap, Probe, Run, Training
from crosslens.studies.starts import Starts
from crosslens.studies.store import Store
from crosslens.studies.study import Grid, Source, Study
from crosslens.tasks import find_task
from crosslens.training.recipe import BILSTM, Recipe, find_recipe

STATES = {"pretrained": Condition(), "untrained": Condition(layers="0,all")}
"""Encoders that are compared without any training."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a study, and where they stand.

    Attributes:
        study: the study.
        runs: all that are known now, in the study's order, each once.
        left: those that are still to be done, with what is missing of each.
        waiting: runs that wait for a search for their recipe to end, or for their encoder to be pretrained.
        notes: what the reader should know, such as layers that were scaled, or recipes that were chosen.
    """

    study: Study
    runs: tuple[Run, ...]
    left: tuple[Run, ...]
    waiting: int
    notes: tuple[str, ...]

    @property
    def done(self) -> int:
        """How many runs are done."""
        return len(self.runs) - len(self.left)


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
    merged: dict[str, Run] = {}
    for run in planner.runs():  # the same weights are made once, whatever is asked of them
        known = merged.get(run.id)
        merged[run.id] = run if known is None else _both(known, run)
    runs = tuple(merged.values())
    return Plan(study, runs, unfinished(store, runs), planner.waiting, tuple(dict.fromkeys(planner.notes)))


def unfinished(store: Store, runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs that are not done in a store now, each with what is missing of it."""
    return tuple(left for run in runs if (left := store.missing(run)) is not None)


def _both(a: Run, b: Run) -> Run:
    def all_of(name: str) -> tuple:
        mine = getattr(a, name)
        return (*mine, *(its for its in getattr(b, name) if its not in mine))

    return replace(
        a, tests=all_of("tests"), comparison=a.comparison or b.comparison, probes=all_of("probes"),
        overlaps=all_of("overlaps"),
    )  # fmt: skip


class _Planner:
    """The study's parts looked up, and its runs made of them."""

    def __init__(self, study: Study, store: Store, corpora: Corpora, cache: str | Path | None, progress: Listener):
        self.study, self.store, self.corpora = study, store, corpora
        self.data = find_data(study.data)
        for what, chosen, known in (
            ("tasks", study.tasks, self.data.tasks),
            ("sources", study.sources, {name for sources in self.data.tasks.values() for name in sources}),
        ):
            for name in chosen or ():
                if name not in known:
                    raise RequestError(f"{study.name}: its data has no {what[:-1]} {name!r}", hint=suggest(name, known))
        self.waiting = 0
        self.notes: list[str] = []
        self.starts = Starts(study, store, self.corpora, cache, progress)
        self.depth = self.starts.depth
        self.conditions = list(dict.fromkeys(self._scaled(condition) for condition in study.conditions))

    def _scaled(self, condition: Condition) -> Condition:
        scaled = condition.scaled(written_for=self.study.depth, depth=self.depth)
        if self.study.depth not in (None, self.depth):
            for name in ("layers", "freeze"):
                before, after = getattr(condition, name), getattr(scaled, name)
                if before is not None:
                    self.notes.append(
                        f"layers {before} of {self.study.depth} are layers {after} of this encoder's {self.depth}"
                    )
        return scaled

    def runs(self) -> Iterator[Run]:
        """All runs: comparisons first, then task by task."""
        study = self.study
        similarity = study.similarity
        tasks = {task: its for task, its in self.data.tasks.items() if task in (study.tasks or self.data.tasks)}
        sources = [
            (task, name, source)
            for task, its in tasks.items()
            for name, source in its.items()
            if name in (study.sources or its)
        ]
        languages = list(dict.fromkeys(self._train(source).language for _, _, source in sources))
        pretrained = list(self._pretrained()) if study.pretrains else []
        yield from (run for run, _ in pretrained)
        yield from self._making([source for _, _, source in sources])
        if similarity is not None:
            for state in similarity.of:
                if state in STATES:
                    condition = STATES[state].scaled(written_for=None, depth=self.depth)
                    yield from self._looked_at(
                        condition, pretrained, lambda beside: {"comparison": self._comparison(languages, beside)}
                    )
        yield from self._probed(pretrained)
        if study.overlap:
            for _, _, source in sources:
                yield from self._looked_at(
                    Condition(), pretrained, lambda beside, its=source: {"overlaps": (self._overlap(its, beside),)}
                )
        after = similarity is not None and "fine-tuned" in similarity.of
        for beside, (task, name, source) in itertools.product(study.bilingual or [None], sources):
            tests = self._tests(source, beside)
            comparison = self._comparison([self._train(source).language], beside) if after else None
            for condition in self.conditions:
                training = self._training(task, name, source, condition)
                if study.grid is not None:
                    searched = condition if study.grid.each == "condition" else Condition()
                    tried = self._tried(training, study.grid, searched, source)
                    yield from tried
                    training = self._chosen(tried)
                    if training is None:
                        self.waiting += len(study.seeds) * len(study.select or [None])
                        continue
                for selected in self._selected(training, source):
                    for seed in study.seeds:
                        yield from self._run(
                            condition, seed, selected, source=source, tests=tests, comparison=comparison, beside=beside
                        )

    def _run(
        self, condition: Condition, seed: int, training: Training | None, *, source: Source | None = None,
        beside: str | None = None, **asked: Any,
    ) -> Iterator[Run]:  # fmt: skip
        """One run; none while what it begins with is not made."""
        base = self.starts.base(condition, seed, source, beside)
        if base is None:
            self.waiting += 1
            return
        yield Run(base.encoder, self.study.encoder, base.digest, condition, seed, training, beside=beside, **asked)

    def _looked_at(
        self,
        condition: Condition,
        pretrained: list[tuple[Run, str | None]],
        ask: Callable[[str | None], dict[str, Any]],
    ) -> Iterator[Run]:
        """The runs that ask something of encoders that are not fine-tuned; ``ask`` takes a pair's other language."""
        if not self.study.pretrains:
            yield from self._run(condition, 1, None, **ask(None))
        for run, beside in pretrained:
            both = condition.model_copy(update={"factor": run.condition.factor})
            yield from self._run(both, run.seed, None, beside=beside, **ask(beside))

    def _probed(self, pretrained: list[tuple[Run, str | None]]) -> Iterator[Run]:
        for asked in self.study.probes:
            probe = find_probe(asked.probe, asked.set)
            named = {split: self._named(getattr(asked, split), split) for split in ("train", "test")}
            dev = self._named(asked.dev, "dev") if asked.dev else None
            settings = probe.model_dump(mode="json")  # pyright: ignore[reportAttributeAccessIssue]
            its = Probe(asked.probe, settings, named["train"], named["test"], dev, asked.inputs, asked.seed)
            for state in asked.of:
                condition = STATES[state].scaled(written_for=None, depth=self.depth)
                yield from self._looked_at(condition, pretrained, lambda beside, its=its: {"probes": (its,)})

    def _overlap(self, source: Source, beside: str | None) -> Overlap:
        return Overlap(self._named(source.train, "train"), self._tests(source, beside))

    def _tests(self, source: Source, beside: str | None) -> tuple[Named, ...]:
        """The corpora that a source's models are tested on; of a bilingual encoder those of its two languages."""
        return tuple(
            self._named(test)
            for test in self.corpora.matching(source.tests)
            if beside is None or self.corpora.corpus(test).language in (beside, self._train(source).language)
        )

    def _pretrained(self) -> Iterator[tuple[Run, str | None]]:
        """The runs that pretrain, with the other language where an encoder has two."""
        factors = list(dict.fromkeys(condition.at_pretraining for condition in self.conditions))
        known = set()
        for beside, factor, seed in itertools.product(self.study.bilingual or [None], factors, self.study.seeds):
            run = self.starts.pretraining(factor, seed, beside)
            if run.id not in known:
                known.add(run.id)
                yield run, beside

    def _making(self, sources: list[Source]) -> Iterator[Run]:
        """The runs that adapt the encoder to a source's raw text, or make one from that alone; each once."""
        asked = itertools.product(self.study.bilingual or [None], self.conditions, self.study.seeds, sources)
        found = {}
        for beside, condition, seed, source in asked:
            run = self.starts.making(condition, seed, source, beside)
            if run is not None:
                found[run.id] = run
        yield from found.values()

    def _train(self, source: Source):
        return self.corpora.corpus(source.train, split="train")

    def _named(self, name: str, split: str = "test") -> Named:
        corpus = self.corpora.corpus(name, split=split)
        return Named(corpus.name, corpus.digest)

    def _training(self, task: str, name: str, source: Source, condition: Condition) -> Training:
        own = condition.recipe or (BILSTM if condition.start == BILSTM else self.study.recipe)
        recipe = find_recipe(own or self.data.recipe, task, self.study.set)
        dev = None
        if recipe.select == "best" or recipe.schedule == "plateau" or self.study.grid is not None:
            dev = self._named(self._dev(source), "dev")
        settings = dict(find_task(task, recipe.task).settings)
        return Training(
            task,
            settings,
            name,
            self._named(source.train, "train"),
            dev,
            recipe,
            translated_from=source.translated_from,
        )

    def _selected(self, training: Training, source: Source) -> Iterator[Training]:
        """The training under every rule of selection that the study names."""
        rules = self.study.select or ()
        if not rules:
            yield training
        for rule in rules:
            recipe = replace_settings(training.recipe, {"select": rule.rule}, what="a selection")
            dev = None
            if rule.rule == "best":
                dev = self._named(rule.oracle or self._dev(source), "dev")
            if rule.oracle and self.corpora.corpus(rule.oracle, split="dev").language == self._train(source).language:
                raise RequestError(
                    f"{self.study.name}: {rule.oracle} is of the source's language, and no oracle", hint="that is best"
                )
            yield replace(training, recipe=recipe, dev=dev, selection=rule.label if len(rules) > 1 else None)

    def _dev(self, source: Source) -> str:
        return source.dev or name_split(source.train, "dev")

    def _tried(self, training: Training, grid: Grid, condition: Condition, source: Source) -> list[Run]:
        runs = []
        for values in itertools.product(*grid.axes.values()):
            settings = dict(zip(grid.axes, values, strict=True))
            recipe: Recipe = replace_settings(training.recipe, settings, what="a grid")
            tried = replace(training, recipe=recipe)
            runs += self._run(condition, grid.seed, tried, source=source)
        return runs

    def _chosen(self, tried: list[Run]) -> Training | None:
        """The training that did best on the source's dev data, the first of equals; None while some are not done."""
        scores = []
        for run in tried:
            if not self.store.path(run.id).is_dir():
                return None
            scores.append(self.store.describe(run.id)["facts"]["dev_score"])
        best = tried[scores.index(max(scores))]
        assert best.training is not None
        axes = self.study.grid.axes if self.study.grid else ()
        chosen = ", ".join(f"{axis}={getattr(best.training.recipe, axis)}" for axis in axes)
        self.notes.append(f"{best.label}: {chosen} has the best dev score, {max(scores):.2f} (of {len(tried)} tried)")
        return best.training

    def _comparison(self, sources: list[str | None], beside: str | None = None) -> Comparison:
        asked, name = self.study.similarity, self.data.parallel
        assert asked is not None
        if name is None:
            raise RequestError(f"{self.study.name}: its data has no parallel corpus to compare representations on")
        for measure in asked.measures or ():
            find_measure(measure)
        parallel = side(self.corpora, name, asked.sentences)
        wanted = [f"{source}-*" for source in sources if source in parallel.languages]
        pairs = tuple(
            pair for pair in expand_pairs(wanted, parallel.languages)
            if beside is None or beside in split_pair(pair, parallel.languages)
        )  # fmt: skip
        if not pairs:
            raise RequestError(f"{name} has none of the sources ({', '.join(map(str, sources))})")
        both = {language for pair in pairs for language in split_pair(pair, parallel.languages)}
        digests = {language: parallel[language].digest for language in sorted(both)}
        return Comparison(name, pairs, tuple(asked.measures or USUAL_MEASURES), digests, asked.sentences)
