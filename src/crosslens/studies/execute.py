"""Doing one run, in this process."""

import json
import shlex
import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from crosslens import __version__
from crosslens.data.parallel import Parallel
from crosslens.data.records import Record, Results
from crosslens.encoders.ablation import freeze, random_init
from crosslens.encoders.bilstm import fresh_bilstm
from crosslens.encoders.changes import Change
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.features import as_features
from crosslens.encoders.load import load_encoder
from crosslens.errors import CrosslensError, StoreError
from crosslens.probes import find_probe
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.progress import Update
from crosslens.similarity.compare import compare
from crosslens.similarity.overlap import subword_overlap
from crosslens.studies.condition import START_LABELS
from crosslens.studies.corpora import Corpora
from crosslens.studies.run import Comparison, Named, Run
from crosslens.studies.store import Store
from crosslens.studies.summary import Counts, add_counts, counted, pack
from crosslens.tasks import find_task
from crosslens.training.adapt import adapt
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.model import TaskModel
from crosslens.training.pretrain import pretrain
from crosslens.training.processes import threads
from crosslens.training.provenance import describe_run
from crosslens.training.recipe import BILSTM

SAVE_EVERY = 200
"""Steps between two states of a training that are kept."""

PATIENCE = 0.3
"""Seconds that a claimed run is waited for, because `crosslens status` claims it for a moment."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run is done in; nothing of it changes a result.

    Attributes:
        store: folder of the store.
        data: folder that is looked through first for corpora.
        device: None: a GPU where there is one.
        keep_models: whether the weights are kept.
        command: what was typed, for whoever repeats a run.
    """

    store: str
    data: str | None = None
    device: str | None = None
    keep_models: bool = False
    command: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run.

    Attributes:
        run: its id.
        label: what a person calls it.
        state: ``done``, ``failed``, ``taken`` (another process works on it), ``stopped`` (asked to).
        tail: of a failed run's log.
    """

    run: str
    label: str
    state: str
    tail: str = ""


@dataclass(frozen=True, slots=True)
class _Log:
    """The progress of a training: now and then a line in the run's log, and its end where that is asked for."""

    note: Callable[[str], None]
    stop: Callable[[], bool]

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        if done and done % SAVE_EVERY == 0:
            self.note(str(Update(stage, done, total, unit, note)))
        if self.stop():
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        self.note(text)


def execute(run: Run, around: Surroundings, *, stop: Callable[[], bool] = lambda: False) -> Outcome:
    """Do a run, or what is left of it, and publish it in the store.

    Args:
        run: what is to be done.
        around: the store and the device.
        stop: asked after every step; True: the training's state is saved, and the outcome is ``stopped``.

    Returns:
        What became of it. No error of the run itself is raised: it is in the outcome, and in the store's ``failed``.
    """
    log: list[str] = []

    def outcome(state: str) -> Outcome:
        return Outcome(run.id, run.label, state, "\n".join(log[-6:]))

    def note(text: str) -> None:
        log.append(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}")

    try:
        store = Store(around.store)
        # One thread, because the bits must not depend on where a run is done.
        with store.claim(run.id, patience=PATIENCE) as mine, threads(1):
            if not mine:
                return outcome("taken")
            left = store.missing(run)  # another process may have done it since it was planned
            if left is not None:
                _do(left, store, around, note, log, stop)
        return outcome("done")
    except KeyboardInterrupt:
        return outcome("stopped")
    except Exception as error:
        ours = isinstance(error, CrosslensError)
        log.extend([str(error)] if ours else traceback.format_exc().splitlines())
        try:
            Store(around.store).keep_failure(run, "\n".join(log) + "\n")
        except StoreError as unkept:
            log.append(str(unkept))
        return outcome("failed")


def lost(run: Run, around: Surroundings, reason: str) -> Outcome:
    """The outcome of a run whose process ended without one; it is kept in the store's ``failed``."""
    Store(around.store).keep_failure(run, reason + "\n")
    return Outcome(run.id, run.label, "failed", reason)


def _do(run: Run, store: Store, around: Surroundings, note: Callable, log: list[str], stop: Callable[[], bool]) -> None:
    note(f"run {run.id}: {run.label}")
    if run.pretrained is not None or run.adapted is not None:
        _make(run, store, around, note, log, stop)
        return
    there = store.path(run.id)
    model = None
    if (there / "model").is_dir():
        model = load_model(there / "model", device=around.device)
        encoder = model.encoder
        note("its weights were kept")
    else:
        encoder = changed(_begin(run, around), run)
        if run.training is not None:
            model = _train(run, encoder, store, around, note, stop)
            encoder = model.encoder
    results = Results.of([])
    corpora = _corpora(around.data)
    counts: Counts = {}
    if model is not None:
        tests = [_checked(corpora, test) for test in run.tests]
        # How long training took is told in run.json alone: records are the same bytes whenever they are made.
        facts = {key: value for key, value in model.facts.items() if key != "seconds"}
        if run.training is not None and run.training.translated_from:
            facts["translated_from"] = run.training.translated_from
        timeless = replace(model, facts=facts)
        results += evaluate(
            timeless, tests, predicted=lambda gold, _: note(f"evaluated {gold.name}"),
            scored=lambda gold, score: counts.update(counted(gold, score)),
        )  # fmt: skip
    if run.comparison is not None:
        results += _compare(run, run.comparison, encoder, corpora)
        note(f"compared {run.comparison.corpus}")
    for asked in run.probes:
        corpora_of = {"train": asked.train, "test": asked.test} | ({"dev": asked.dev} if asked.dev else {})
        read = {split: _checked(corpora, its, split=split) for split, its in corpora_of.items()}
        probe_of = find_probe(asked.name, asked.settings)
        results += probe(encoder, probe_of, how=Fit(inputs=asked.inputs), seed=asked.seed, **read).results  # pyright: ignore
        note(f"probed {asked.test.name}")
    for counted_of in run.overlaps:
        train = _checked(corpora, counted_of.train, split="train")
        results += subword_overlap(encoder, train=train, tests=[_checked(corpora, test) for test in counted_of.tests])
        note(f"counted subwords shared with {train.name}")
    results = results.with_columns(run=run.id, encoder=run.called)
    if there.is_dir():
        add_counts(store, run.id, counts)
        store.add_records(run.id, results)
        return
    note("done")
    with store.publishing(run.id) as folder:
        results.write(folder / "records.parquet")
        (folder / "counts.npz").write_bytes(pack(counts))
        (folder / "run.json").write_text(_describe(run, model, around), "utf-8")
        (folder / "log.txt").write_text("\n".join(log) + "\n", "utf-8")
        if model is not None and around.keep_models:
            save_model(model, folder / "model")


def _make(run: Run, store: Store, around: Surroundings, note: Callable, log: list[str], stop: Callable) -> None:
    """Pretrain an encoder, or adapt one, and publish it with the perplexity of each of its languages."""

    made = store.folder / "tmp" / f"{run.id}.encoder"
    shutil.rmtree(made, ignore_errors=True)  # of a process that died between making and publishing it
    started = time.perf_counter()
    how: dict[str, Any] = {"device": around.device, "progress": _Log(note, stop)}
    if run.adapted is not None:
        its, text = run.adapted, _corpora(around.data).text(run.adapted.text.name)
        if text.digest != its.text.digest:
            raise StoreError(f"{its.text.name} has changed since the study was planned", hint="plan it again")
        seed, texts = its.settings.seed, {its.language: (its.text.name, its.text.digest)}
        facts = adapt(run.encoder, {its.language: text}, made, settings=its.settings, **how)
    else:
        assert run.pretrained is not None
        its = run.pretrained
        seed, texts = its.settings.seed, {
            language: (name, its.texts[language]) for language, name in its.settings.corpora.items()
        }  # fmt: skip
        facts = pretrain(its.settings, made, base=its.base, data=around.data, save_every=SAVE_EVERY, **how)
    note(f"{facts['steps']} steps in {time.perf_counter() - started:.0f} s, last loss {facts['loss']:.4f}")
    encoder = load_encoder(made, device="cpu")
    tags = {"condition": run.condition.label, "encoder_digest": encoder.digest, "crosslens": __version__}
    records = [
        Record(
            run=run.id, encoder=run.called, target=language, measure="perplexity", metric="perplexity",
            value=facts[f"perplexity {language}"], seed=seed, tags={**tags, "corpus": name, "digest": of_text},
        )
        for language, (name, of_text) in texts.items()
        if f"perplexity {language}" in facts
    ]  # fmt: skip
    described = {"run": run.id, "label": run.label, "identity": run.identity, "encoder_digest": encoder.digest,
                 "facts": facts}  # fmt: skip
    if around.command:
        described["repeat"] = f"{around.command} --only {shlex.quote(run.id)}"
    with store.publishing(run.id) as folder:
        shutil.move(made, folder / "encoder")
        Results.of(records).write(folder / "records.parquet")
        (folder / "run.json").write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", "utf-8")
        (folder / "log.txt").write_text("\n".join(log) + "\n", "utf-8")


def _train(
    run: Run, encoder: Encoder, store: Store, around: Surroundings, note: Callable, stop: Callable[[], bool]
) -> TaskModel:
    training = run.training
    assert training is not None
    corpora = _corpora(around.data)
    state = store.state(run.id)
    if state.exists():
        note(f"going on from {state.name}")

    model = finetune(
        encoder, find_task(training.task, training.recipe.task), train=_checked(corpora, training.train, split="train"),
        dev=_checked(corpora, training.dev, split="dev") if training.dev else None, recipe=training.recipe,
        seed=run.seed, state=state, save_every=SAVE_EVERY, progress=_Log(note, stop),
    )  # fmt: skip
    note(
        f"trained {model.facts['steps']} steps in {model.facts['seconds']} s, last loss {model.facts['last_loss']:.4f}"
    )
    return model


def changed(encoder: Encoder, run: Run) -> Encoder:
    """The run's encoder before training: layers drawn anew, layers frozen, or a network on its features."""
    condition = run.condition
    done = [condition.factor, START_LABELS[condition.start]]
    its = tuple(Change("pretrain", "", init=what) for what in done if what)
    encoder = replace(encoder, changes=(*encoder.changes, *its))
    if condition.layers:
        encoder = random_init(
            encoder, condition.layers, seed=run.seed, components=condition.components, init=condition.init
        )
    if condition.freeze:
        encoder = freeze(encoder, condition.freeze)
    return as_features(encoder, seed=run.seed) if condition.use == "features" else encoder


def _compare(run: Run, asked: Comparison, encoder: Encoder, corpora: Corpora) -> Results:
    parallel = side(corpora, asked.corpus, asked.sentences)
    for language, digest in asked.digests.items():
        if parallel[language].digest != digest:
            raise StoreError(f"{asked.corpus} has changed since the study was planned ({language})")
    trained = run.training
    tags: dict[str, str | int | float] = {"state": "fine-tuned" if trained else "untouched", "seed": run.seed}
    if trained:
        tags |= {"trained_on": trained.source}
    results = compare(encoder, parallel, pairs=asked.pairs, measures=asked.measures, tags=tags)
    return results.with_columns(seed=run.seed, task=trained.task if trained else None)


def side(corpora: Corpora, name: str, sentences: int | None) -> Parallel:
    """Parallel corpora, or the first sentences of them."""
    parallel = corpora.parallel(name)
    return parallel.head(sentences) if sentences else parallel


def _checked(corpora: Corpora, wanted: Named, *, split: str = "test") -> Any:
    corpus = corpora.corpus(wanted.name, split=split)
    if corpus.digest != wanted.digest:
        raise StoreError(f"{wanted.name} has changed since the study was planned", hint="plan it again")
    return corpus


def _begin(run: Run, around: Surroundings) -> Encoder:
    """What a training begins with."""
    if run.encoder != BILSTM:
        return _base(run.encoder, run.encoder_digest, around.device)
    assert run.training is not None
    train = _checked(_corpora(around.data), run.training.train, split="train")
    return fresh_bilstm(train, seed=run.seed, device=around.device)


@lru_cache(maxsize=1)
def _base(name: str, digest: str, device: str | None) -> Encoder:
    """The encoder as it was loaded, kept while runs of it follow one another."""
    encoder = load_encoder(name, device=device)
    if encoder.digest != digest:
        raise StoreError(f"the encoder {name} has changed since the study was planned", hint="plan it again")
    return encoder


@lru_cache(maxsize=1)
def _corpora(data: str | None) -> Corpora:
    return Corpora(data)


def _describe(run: Run, model: TaskModel | None, around: Surroundings) -> str:
    described: dict[str, Any] = {"run": run.id, "label": run.label, "identity": run.identity}
    if around.command:
        described["repeat"] = f"{around.command} --only {shlex.quote(run.id)}"
    if model is not None:
        described |= describe_run(model)
        described |= {"run": run.id, "identity": run.identity}
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"
