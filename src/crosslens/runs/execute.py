"""Execute one run in this process, and publish it in the store."""

import json
import shlex
import shutil
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from crosslens.errors import CrosslensError, StoreError
from crosslens.files import disk_reason
from crosslens.formatting import counted
from crosslens.memory_errors import advice, is_exhausted
from crosslens.progress import SILENT, Progress, Update
from crosslens.results.record import Results
from crosslens.runs.answer import Subject, answers
from crosslens.runs.corpora import Corpora
from crosslens.runs.counts import COUNTS, Counts, write_counts
from crosslens.runs.make import begin, make_encoder, train
from crosslens.runs.run import AdaptRun, Asked, ModelRun, PretrainRun, Run
from crosslens.runs.store import LOG, Store
from crosslens.training.checkpoint import load_model, save_model
from crosslens.training.distributed import threads
from crosslens.training.model import TaskModel
from crosslens.training.provenance import describe_run

PATIENCE = 0.3
"""Seconds to wait for a claimed run, because `crosslens status` claims runs for a moment."""

LOG_EVERY = 200
"""Steps between two lines of a run's log."""

_ENDS = {"done": "finished", "failed": "failed:", "stopped": "stopped:", "taken": "another process works on"}
"""State of an outcome -> how it is put."""

_LISTENER: ContextVar[Progress] = ContextVar("listener", default=SILENT)
"""Listener for the steps of the runs that this process executes itself; other processes have none."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where and how runs are executed; no field changes a result.

    Attributes:
        store: folder of the store.
        data: folder that is searched first for corpora.
        device: torch device; None: a GPU if available.
        keep_models: keep the weights of fine-tuned models.
        command: command line of the study, recorded for repeating a run.
        planned: time at which the study was planned. Corpora are read again for each plan, as they may have changed.
    """

    store: str
    data: str | None = None
    device: str | None = None
    keep_models: bool = False
    command: str = ""
    planned: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        run: run id.
        label: readable name.
        state: ``done``, ``failed``, ``taken`` (claimed by another process) or ``stopped`` (on request).
        tail: last lines of the log.
    """

    run: str
    label: str
    state: str
    tail: str = ""

    @property
    def about(self) -> str:
        """The outcome in words: ``finished pos en 1-2 seed 1``, ``another process works on pos en 1-2 seed 1``."""
        return f"{_ENDS[self.state]} {self.label}"


def execute(asked: Asked, context: Context, *, stop: Callable[[], bool] = lambda: False) -> Outcome:
    """Execute a run, or its unanswered questions, and publish it in the store.

    Args:
        stop: called after every step; True saves the training state and ends the run as ``stopped``.

    Returns:
        The outcome. An error of the run is not raised, but recorded in the outcome and in the store's ``failed``.
    """
    run = asked.run
    log: list[str] = []

    def outcome(state: str) -> Outcome:
        return Outcome(run.id, run.label, state, "\n".join(log[-6:]))

    try:
        store = Store(context.store)
        # One thread, so that results are bit-identical on every machine.
        with store.claim(run.id, patience=PATIENCE) as claimed, threads(1):
            if not claimed:
                return outcome("taken")
            # Another process may have finished the run in the meantime.
            missing = store.missing(asked, models=context.keep_models)
            if missing is not None:
                _Work(missing, store, context, log, stop).do()
        return outcome("done")
    except KeyboardInterrupt:
        return outcome("stopped")
    except Exception as error:
        reason = _reason(error)
        log.extend(traceback.format_exc().splitlines() if reason is None else [reason])
        try:
            Store(context.store).keep_failure(run, "\n".join(log) + "\n")
        except StoreError as store_error:
            log.append(str(store_error))
        return outcome("failed")


def _reason(error: Exception) -> str | None:
    """Return what went wrong in one sentence; None for errors that only their traceback explains."""
    if isinstance(error, CrosslensError):
        return str(error)
    return f"out of memory ({advice()})" if is_exhausted(error) else disk_reason(error)


def lost(run: Run, context: Context, reason: str) -> Outcome:
    """Record a run as failed whose process ended without an outcome."""
    Store(context.store).keep_failure(run, reason + "\n")
    return Outcome(run.id, run.label, "failed", reason)


@contextmanager
def steps_reported(listener: Progress) -> Iterator[None]:
    """Report the steps of runs that are executed in this process within the block, with the run's label."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@dataclass(frozen=True, slots=True)
class _Log:
    """Progress listener that writes to the run's log, and interrupts training on request."""

    label: str
    note: Callable[[str], None]
    stop: Callable[[], bool]

    def report(self, stage: str, done: int, total: int | None = None, unit: str = "", note: str = "") -> None:
        if done and done % LOG_EVERY == 0:
            self.note(str(Update(stage, done, total, unit, note)))
        _LISTENER.get().report(f"{self.label}, {stage}", done, total, unit, note)
        if self.stop():
            raise KeyboardInterrupt

    def say(self, text: str) -> None:
        self.note(text)


@dataclass(frozen=True, slots=True)
class _Work:
    """A run that this process has claimed."""

    asked: Asked
    store: Store
    context: Context
    log: list[str]
    stop: Callable[[], bool]

    def note(self, text: str) -> None:
        self.log.append(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}")

    @property
    def progress(self) -> Progress:
        return _Log(self.asked.run.label, self.note, self.stop)

    def do(self) -> None:
        run = self.asked.run
        self.log.extend(self.store.log(run.id))
        self.note(f"run {run.id}: {run.label}")
        if isinstance(run, PretrainRun | AdaptRun):
            self.make_encoder(run)
            return
        corpora = _corpora(self.context.data, self.context.planned)
        stored = self.store.path(run.id)
        if not isinstance(run, ModelRun):
            subject = Subject(begin(run, corpora, device=self.context.device))
        elif self.store.model(run.id).is_dir():
            model = load_model(self.store.model(run.id), device=self.context.device)
            subject = Subject(model.encoder, model, run.base.path, self.store.encoder)
            self.note("using its stored weights")
        else:
            model = self.train(run, corpora)
            subject = Subject(model.encoder, model, run.base.path, self.store.encoder)
        done, questions = 0, self.asked.questions
        self.progress.report("evaluating", done, len(questions), "evaluations")
        for results, counts in answers(subject, questions, corpora, note=self.note):
            self.publish(subject, results, counts)
            done += len(set(results.records["question"].to_pylist()))
            self.progress.report("evaluating", done, len(questions), "evaluations")
        if not stored.is_dir():  # nothing was asked
            self.publish(subject, Results.of([]), {})
        if subject.model is not None and self.context.keep_models and not self.store.model(run.id).is_dir():
            save_model(subject.model, self.store.model(run.id))
        self.note("done")
        self.store.finish(run.id, self.log)

    def publish(self, subject: Subject, results: Results, counts: Counts) -> None:
        """Publish answers at once, so that an error in a later question does not lose them."""
        run = self.asked.run
        if self.store.path(run.id).is_dir():
            self.store.add_answers(run.id, results, counts)
            return
        described = describe_run(subject.model) if subject.model else {}
        with self.store.publishing(run.id) as folder:
            results.write(folder / "records.parquet")
            write_counts(folder / COUNTS, counts)
            self.describe(folder, **described)

    def train(self, run: ModelRun, corpora: Corpora) -> TaskModel:
        """Train the model; if the run is finished but its weights were not kept, they must come out the same."""
        state = self.store.state(run.id)
        if state.exists():
            self.note(f"resuming from {state.name}")

        model = train(run, corpora, device=self.context.device, state=state, progress=self.progress)
        facts = model.facts
        steps = counted(int(facts["steps"]), "step", "steps")
        self.note(f"trained {steps} in {facts['seconds']} s, last loss {facts['last_loss']:.4f}")
        if self.store.path(run.id).is_dir():
            before = self.store.describe(run.id)["facts"]["weights"]
            if facts["weights"] != before:
                state.unlink(missing_ok=True)
                raise StoreError(
                    f"{run.label} was retrained and has different weights"
                    f" ({str(facts['weights'])[:8]} instead of {before[:8]}); its earlier results are kept unchanged",
                    hint="the machine, the torch version or memory pressure may differ."
                    f" Remove {self.store.path(run.id)} to repeat the run",
                )
        return model

    def make_encoder(self, run: PretrainRun | AdaptRun) -> None:
        encoder = self.store.folder / "tmp" / f"{run.id}.encoder"
        shutil.rmtree(encoder, ignore_errors=True)  # left by a process that died before publishing it
        started = time.perf_counter()
        corpora = _corpora(self.context.data, self.context.planned)
        described, results = make_encoder(run, encoder, corpora, device=self.context.device, progress=self.progress)
        facts = described["facts"]
        seconds = time.perf_counter() - started
        self.note(f"{counted(facts['steps'], 'step', 'steps')} in {seconds:.0f} s, last loss {facts['loss']:.4f}")
        with self.store.publishing(run.id) as folder:
            shutil.move(encoder, folder / "encoder")
            results.write(folder / "records.parquet")
            self.describe(folder, **described)
        self.store.finish(run.id, self.log)

    def describe(self, folder: Path, **facts: Any) -> None:
        """Write ``run.json`` and the log."""
        run = self.asked.run
        described: dict[str, Any] = {**facts, "run": run.id, "label": run.label, "identity": run.identity}
        if self.context.command:
            described["repeat"] = f"{self.context.command} --only {shlex.quote(run.id)}"
        text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
        (folder / "run.json").write_text(text, "utf-8")
        (folder / LOG).write_text("\n".join(self.log) + "\n", "utf-8")


@lru_cache(maxsize=1)
def _corpora(data: str | None, planned: float) -> Corpora:
    return Corpora(data)
