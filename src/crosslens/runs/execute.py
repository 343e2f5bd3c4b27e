"""Doing one run of a store, in this process."""

import json
import shlex
import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from crosslens.errors import CrosslensError, StoreError
from crosslens.progress import Update
from crosslens.runs.answer import Subject, answer
from crosslens.runs.corpora import Corpora
from crosslens.runs.counts import write_counts
from crosslens.runs.make import begin, make_encoder, train
from crosslens.runs.run import AdaptRun, Asked, ModelRun, PretrainRun, Run
from crosslens.runs.store import COUNTS, Store
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.distributed import threads
from crosslens.training.provenance import describe_run

PATIENCE = 0.3
"""Seconds that a claimed run is waited for, because `crosslens status` claims it for a moment."""

REPORTED = 200
"""Steps between two lines of a run's log."""


@dataclass(frozen=True, slots=True)
class Context:
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


def execute(asked: Asked, context: Context, *, stop: Callable[[], bool] = lambda: False) -> Outcome:
    """Do a run, or what is left of it, and publish it in the store.

    Args:
        asked: what is to be done, and the questions that it must answer.
        context: the store and the device.
        stop: asked after every step; True: the training's state is saved, and the outcome is ``stopped``.

    Returns:
        What became of it. No error of the run itself is raised: it is in the outcome, and in the store's ``failed``.
    """
    run = asked.run
    log: list[str] = []

    def outcome(state: str) -> Outcome:
        return Outcome(run.id, run.label, state, "\n".join(log[-6:]))

    try:
        store = Store(context.store)
        # One thread, because the bits must not depend on where a run is done.
        with store.claim(run.id, patience=PATIENCE) as claimed, threads(1):
            if not claimed:
                return outcome("taken")
            left = store.missing(asked)  # another process may have done it since it was planned
            if left is not None:
                _Work(left, store, context, log, stop).do()
        return outcome("done")
    except KeyboardInterrupt:
        return outcome("stopped")
    except Exception as error:
        ours = isinstance(error, CrosslensError)
        log.extend([str(error)] if ours else traceback.format_exc().splitlines())
        try:
            Store(context.store).keep_failure(run, "\n".join(log) + "\n")
        except StoreError as unkept:
            log.append(str(unkept))
        return outcome("failed")


def lost(run: Run, context: Context, reason: str) -> Outcome:
    """The outcome of a run whose process ended without one; it is kept in the store's ``failed``."""
    Store(context.store).keep_failure(run, reason + "\n")
    return Outcome(run.id, run.label, "failed", reason)


@dataclass(frozen=True, slots=True)
class _Log:
    """The progress of a training: now and then a line in the run's log, and its end where that is asked for."""

    note: Callable[[str], None]
    stop: Callable[[], bool]

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        if done and done % REPORTED == 0:
            self.note(str(Update(stage, done, total, unit, note)))
        if self.stop():
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        self.note(text)


@dataclass(frozen=True, slots=True)
class _Work:
    """One run that this process has claimed."""

    asked: Asked
    store: Store
    context: Context
    log: list[str]
    stop: Callable[[], bool]

    def note(self, text: str) -> None:
        self.log.append(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}")

    def do(self) -> None:
        run = self.asked.run
        self.note(f"run {run.id}: {run.label}")
        if isinstance(run, PretrainRun | AdaptRun):
            self.make_encoder(run)
            return
        corpora = _corpora(self.context.data)
        there = self.store.path(run.id)
        if not isinstance(run, ModelRun):
            subject = Subject(begin(run, corpora, device=self.context.device))
        elif (there / "model").is_dir():
            model = load_model(there / "model", device=self.context.device)
            subject = Subject(model.encoder, model)
            self.note("using its stored weights")
        else:
            model = self.train(run, corpora)
            subject = Subject(model.encoder, model)
        results, counts = answer(subject, self.asked.questions, corpora, note=self.note)
        if there.is_dir():
            self.store.add_answers(run.id, results, counts)
            return
        self.note("done")
        described = describe_run(subject.model) if subject.model else {}
        with self.store.publishing(run.id) as folder:
            results.write(folder / "records.parquet")
            write_counts(folder / COUNTS, counts)
            self.describe(folder, **described)
            if subject.model is not None and self.context.keep_models:
                save_model(subject.model, folder / "model")

    def train(self, run: ModelRun, corpora: Corpora) -> Any:
        """The model; one that was trained before, and whose weights were not kept, must become the same again."""
        state = self.store.state(run.id)
        if state.exists():
            self.note(f"resuming from {state.name}")

        model = train(run, corpora, device=self.context.device, state=state, progress=_Log(self.note, self.stop))
        facts = model.facts
        self.note(f"trained {facts['steps']} steps in {facts['seconds']} s, last loss {facts['last_loss']:.4f}")
        if self.store.path(run.id).is_dir():
            before = self.store.describe(run.id)["facts"]["weights"]
            state.unlink(missing_ok=True)  # no publishing follows, which else removes it
            if facts["weights"] != before:
                raise StoreError(
                    f"{run.label} was retrained for new evaluations and has different weights"
                    f" ({str(facts['weights'])[:8]} instead of {before[:8]}); its earlier results are kept unchanged",
                    hint="the machine, the torch version or memory pressure may differ."
                    f" Remove {self.store.path(run.id)} to repeat the run",
                )
        return model

    def make_encoder(self, run: PretrainRun | AdaptRun) -> None:
        made = self.store.folder / "tmp" / f"{run.id}.encoder"
        shutil.rmtree(made, ignore_errors=True)  # of a process that died between making and publishing it
        started = time.perf_counter()
        corpora, progress = _corpora(self.context.data), _Log(self.note, self.stop)
        described, results = make_encoder(run, made, corpora, device=self.context.device, progress=progress)
        facts = described["facts"]
        seconds = time.perf_counter() - started
        self.note(f"{facts['steps']} steps in {seconds:.0f} s, last loss {facts['loss']:.4f}")
        with self.store.publishing(run.id) as folder:
            shutil.move(made, folder / "encoder")
            results.write(folder / "records.parquet")
            self.describe(folder, **described)

    def describe(self, folder: Path, **known: Any) -> None:
        """Write ``run.json`` and the log."""
        run = self.asked.run
        described: dict[str, Any] = {**known, "run": run.id, "label": run.label, "identity": run.identity}
        if self.context.command:
            described["repeat"] = f"{self.context.command} --only {shlex.quote(run.id)}"
        text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
        (folder / "run.json").write_text(text, "utf-8")
        (folder / "log.txt").write_text("\n".join(self.log) + "\n", "utf-8")


@lru_cache(maxsize=1)
def _corpora(data: str | None) -> Corpora:
    return Corpora(data)
