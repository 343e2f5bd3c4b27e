"""The store: a folder of finished runs, each published atomically.

    runs/ID/        run.json (identity, provenance), records.parquet, counts.npz (per sentence), log.txt, and
                    optionally model/, or encoder/ for pretraining runs
    failed/ID/      log and identity of a failed run; removed when the run succeeds
    claims/ID       locked by the process that works on the run; released by the system when the process dies
    claims/NAME.study   likewise, by the first of the processes that run the study
    tmp/            partial output, and the training state of runs with unanswered questions
    studies/NAME/   study.yaml, plan.json, results.csv, summary.csv; while a changed study is unfinished, those
                    of before as results.before.csv and summary.before.csv

A store consists of plain files, which can be copied and read without crosslens.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from crosslens.errors import CrosslensError, DataError, RequestError, StoreError
from crosslens.files import is_locked, lock_reason, new_folder, refuse_unwritable, remove_abandoned, write_text
from crosslens.results.record import Results, concatenated, mean_of_runs, read_results
from crosslens.runs.counts import COUNTS, Counts, mean_counts, read_counts, write_counts
from crosslens.runs.question import KINDS
from crosslens.runs.run import Asked, ModelRun, Run
from crosslens.training import versions
from crosslens.training.identity import run_id

RESULTS = ("results.csv", "summary.csv")
"""Files of a finished study."""

LOG = "log.txt"
"""File name of the log of a run."""

LOCK = "lock"
"""File in ``claims`` that is locked for a moment, to see whether the file system can."""

RUN_ID = re.compile(r"[0-9a-f]{16}")
"""Name of the folder of a finished run."""

RUNS_IN_MEMORY = 64
"""Runs whose records or counts are kept while a study is read, because its list names them once for each condition."""


class Store:
    """A folder of runs. Methods that read runs and plans raise `StoreError` for files that are missing or damaged.

    Args:
        folder: folder of the store; created if missing.

    Raises:
        RequestError: when the folder is not empty and not a store.
        StoreError: when the folder is not writable.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        with _writing(self.folder):
            if self.folder.exists() and not self.folder.is_dir():
                raise RequestError(f"{folder} is a file, not a store of runs")
            if self.folder.is_dir() and any(self.folder.iterdir()) and not (self.folder / "runs").is_dir():
                raise RequestError(f"{folder} is not empty and is not a store of runs", hint="choose another folder")
            parts = [self.folder / name for name in ("runs", "failed", "tmp", "studies", "claims")]
            self._made = [part for part in (*reversed(self.folder.parents), self.folder, *parts) if not part.exists()]
            for part in parts:
                part.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def removed_if_refused(self) -> Iterator[None]:
        """Remove the folders that were made for this store, if the block refuses a request before anything is in them.

        The claims are the first to go, so that a store where another process works stays.
        """
        try:
            yield
        except CrosslensError:
            with suppress(OSError):
                for part in reversed(self._made):
                    part.rmdir()
            raise

    def path(self, run: str) -> Path:
        """Folder of a finished run."""
        return self.folder / "runs" / run

    def encoder(self, run: str) -> Path:
        """Folder of the encoder that a finished run made."""
        return self.path(run) / "encoder"

    def model(self, run: str) -> Path:
        """Folder of the fine-tuned model of a finished run; missing if models are not kept."""
        return self.path(run) / "model"

    def ids(self) -> list[str]:
        """Ids of the finished runs, sorted. Other files and folders beside them are ignored."""
        entries = os.scandir(self.folder / "runs")
        return sorted(entry.name for entry in entries if RUN_ID.fullmatch(entry.name) and entry.is_dir())

    def describe(self, run: str) -> dict[str, Any]:
        """Read ``run.json`` of a finished run."""
        path = self.path(run) / "run.json"
        described = _read_json(path, hint := f"remove {self.path(run)} to repeat the run")
        identity = described.get("identity")
        if not isinstance(identity, dict) or run_id(identity) != run:
            raise StoreError(f"{path} is damaged: its identity is not that of the run", hint=hint)
        if not isinstance(described.get("label"), str):
            raise StoreError(f"{path} is damaged: the run has no label", hint=hint)
        if not all(isinstance(described.get(name, {}), dict) for name in ("facts", "machine")):
            raise StoreError(f"{path} is damaged: facts and machine must be JSON objects", hint=hint)
        return described

    def identities(self) -> dict[str, dict[str, Any]]:
        """Read the identity of each finished run: run id -> identity."""
        return {run: self.describe(run)["identity"] for run in self.ids()}

    def answers(self, run: str) -> Results:
        """Read all records of a finished run."""
        try:
            return read_results(self.path(run) / "records.parquet")
        except DataError as error:
            raise StoreError(error.message, hint=f"remove {self.path(run)} to repeat the run") from None

    def answered(self, run: str) -> set[str]:
        """Return the ids of the answered questions of a published run."""
        return set(self.answers(run).records["question"].to_pylist())

    def collect(self, study: str) -> Results:
        """Collect the results of a study: the records that answer its questions, with the study's columns.

        Unfinished runs and unanswered questions are skipped, and what is asked twice is there once. The scores of
        several best settings of a search are averaged, and their ``run`` names all of these runs. If the study was
        planned with another version of training or scoring, the ``settings`` column of its records says so.

        Args:
            study: name of a study that was planned in this store.
        """
        plan = self.planned(study)
        now = versions.current()
        older = [f"{name}={number}" for name, number in plan["versions"].items() if now.get(name) != number]
        collected: dict[tuple[Any, ...], Results] = {}  # sources with the same training data ask the same

        @lru_cache(RUNS_IN_MEMORY)
        def answers_of(run: str) -> dict[str | None, Results]:
            return {key: records for (key,), records in self.answers(run).groups("question")}

        for views in _together(plan["asked"]):
            if not all(self.path(view["run"]).is_dir() for view in views):
                continue
            answers = [answers_of(view["run"]) for view in views]
            for question, kind in views[0]["questions"]:
                if all(question in by_question for by_question in answers):
                    owned = KINDS[kind].owns
                    columns = {name: value for name, value in views[0]["columns"].items() if name not in owned}
                    columns["run"] = " ".join(view["run"] for view in views)
                    key = (question, *columns.values())
                    if key in collected:
                        continue
                    records = mean_of_runs([by_question[question] for by_question in answers])
                    if language := views[0].get("languages", {}).get(question):
                        columns["target"] = language
                    records = records.with_columns(**columns, study=study)
                    if older:
                        settings = records.records["settings"][0].as_py()
                        records = records.with_columns(settings=" ".join(filter(None, [settings, *older])))
                    collected[key] = records
        return concatenated(collected.values())

    def check(self, run: str) -> None:
        """Check that a finished run has all its files and is described. Records and counts are checked when read.

        Raises:
            StoreError: naming the file that is missing or damaged.
        """
        self.describe(run)
        path = self.path(run)
        for name in ("records.parquet", *(() if self.encoder(run).is_dir() else (COUNTS,))):
            if not (path / name).is_file():
                raise StoreError(f"{path / name} is missing", hint=f"remove {path} to repeat the run")

    def missing(self, asked: Asked, *, models: bool = False) -> Asked | None:
        """Return a run with its unanswered questions; None if the run is finished and every question is answered.

        Args:
            models: whether a run that fine-tunes is finished only with the weights of its model.
        """
        if not self.path(asked.run.id).is_dir():
            return asked
        self.check(asked.run.id)
        answered = self.answered(asked.run.id)
        unanswered = tuple(question for question in asked.questions if question.id not in answered)
        lacks_model = models and isinstance(asked.run, ModelRun) and not self.model(asked.run.id).is_dir()
        return replace(asked, questions=unanswered) if unanswered or lacks_model else None

    @contextmanager
    def claim(self, run: str, *, patience: float = 0.0) -> Iterator[bool]:
        """Try to claim a run for this process until the block ends, and yield whether it worked.

        The operating system releases the lock when its owner is killed, so that nothing needs cleaning up.

        Args:
            patience: seconds to wait for the lock; `claimed` holds it for a moment.
        """
        lock = FileLock(self.folder / "claims" / run)
        with _writing(self.folder):
            try:
                lock.acquire(timeout=patience)
            except Timeout:
                pass
            with suppress(FileNotFoundError):  # its owner may have removed it
                os.utime(lock.lock_file)  # see `claimed_since`
        try:
            yield lock.is_locked
        finally:
            lock.release()

    def refuse_without_locks(self) -> None:
        """Check that the store is on a file system with locks (flock); otherwise two processes would do the same run.

        Raises:
            StoreError: if it is not, or if nothing can be written there.
        """
        with _writing(self.folder):
            refuse_unwritable(self.folder / "claims")
        reason = lock_reason(self.folder / "claims" / LOCK)
        if reason is not None:
            raise StoreError(
                f"{self.folder} is on a file system without locks: {reason}",
                hint="choose a folder on another one; a network file system must be mounted with locks",
            )

    def claimed(self, run: str) -> bool:
        """Whether a process is working on a run."""
        return is_locked(self.folder / "claims" / run)

    def claimed_since(self, run: str) -> float | None:
        """When the last process tried to claim a run, or a study; None if no process is working on it."""
        claim = self.folder / "claims" / run
        return claim.stat().st_mtime if is_locked(claim) else None

    def state(self, run: str) -> Path:
        """File for the training state of an unfinished run."""
        return self.folder / "tmp" / f"{run}.state"

    @contextmanager
    def publishing(self, run: str) -> Iterator[Path]:
        """Yield a folder that becomes the finished run when the block succeeds; an existing run is left unchanged.

        Raises:
            StoreError: when the store is not writable.
        """
        with _writing(self.folder), new_folder(self.path(run)) as folder:
            yield folder

    def add_answers(self, run: str, results: Results, counts: Counts) -> None:
        """Add answers to a published run. Files are replaced atomically, and existing answers kept."""
        stored, answered = self.answers(run), self.answered(run)
        new = [records for (question,), records in results.groups("question") if question not in answered]
        with _writing(self.folder):
            write_counts(self.path(run) / COUNTS, {**counts, **read_counts(self.path(run) / COUNTS)})
            concatenated([stored, *new]).write(self.path(run) / "records.parquet")

    def log(self, run: str) -> list[str]:
        """Read the lines of a published run's log."""
        file = self.path(run) / LOG
        return file.read_text("utf-8").splitlines() if file.is_file() else []

    def finish(self, run: str, log: Sequence[str]) -> None:
        """Write the log of a run whose questions are answered, and remove its training state and its failed attempt."""
        with _writing(self.folder):
            write_text(self.path(run) / LOG, "\n".join(log) + "\n")
        shutil.rmtree(self.folder / "failed" / run, ignore_errors=True)
        self.state(run).unlink(missing_ok=True)

    def tidy(self, runs: Iterable[str]) -> None:
        """Remove what processes that were killed between publishing and finishing a run left of it.

        Training state and failed attempt stay while a study of this store has unanswered questions about the run.
        """
        asked: dict[str, set[str]] = {}
        for study in self.studies():
            for run, questions in self.questions(study).items():
                asked.setdefault(run, set()).update(questions)
        for run in runs:
            remove_abandoned(self.path(run) / LOG)
            remove_abandoned(self.state(run))
            if (self.state(run).exists() or self.failed(run)) and asked.get(run, set()) <= self.answered(run):
                shutil.rmtree(self.folder / "failed" / run, ignore_errors=True)
                self.state(run).unlink(missing_ok=True)

    def counts(self, run: str) -> Counts:
        """Read the counts per sentence of a finished run; a run that made an encoder has none.

        Args:
            run: run id, or several with spaces, whose scores are averaged (`collect`).
        """
        if len(run.split()) > 1:
            return mean_counts([self.counts(each) for each in run.split()])
        if self.path(run).is_dir():
            self.check(run)
        try:
            return read_counts(self.path(run) / COUNTS)
        except DataError as error:
            raise StoreError(str(error), hint=f"remove {self.path(run)} to repeat the run") from None

    def keep_failure(self, run: Run, log: str) -> None:
        """Store log and identity of a failed run."""
        folder = self.folder / "failed" / run.id
        with _writing(self.folder):
            shutil.rmtree(folder, ignore_errors=True)
            with new_folder(folder) as partial:
                (partial / LOG).write_text(log, "utf-8")
                described = {"run": run.id, "label": run.label, "identity": run.identity}
                (partial / "run.json").write_text(json.dumps(described, indent=1, ensure_ascii=False), "utf-8")

    def failed(self, run: str) -> bool:
        """Whether the last attempt of a run failed."""
        return self.failed_at(run) is not None

    def failed_at(self, run: str) -> float | None:
        """When the last attempt of a run failed; None if it did not."""
        try:
            return (self.folder / "failed" / run).stat().st_mtime
        except FileNotFoundError:
            return None

    def keep_plan(self, study: str, files: dict[str, str]) -> Path | None:
        """Write the files of a planned study: file name -> content.

        Results of another plan get another name until `finish_study` removes them.

        Returns:
            The new name of the results of another plan, if there are any.
        """
        folder = self.folder / "studies" / study
        plan = folder / "plan.json"
        with _writing(self.folder):
            folder.mkdir(exist_ok=True)
            if not plan.is_file() or plan.read_bytes() != files[plan.name].encode():
                for name in RESULTS:
                    with suppress(FileNotFoundError):
                        (folder / name).replace(_before(folder / name))
            for name, content in files.items():
                write_text(folder / name, content)
        before = _before(folder / RESULTS[0])
        return before if before.exists() else None

    def finish_study(self, study: str, *, results: Results, summary: str) -> None:
        """Write the results and the summary of a finished study, and remove those of earlier plans."""
        folder = self.folder / "studies" / study
        results.write(folder / RESULTS[0])
        write_text(folder / RESULTS[1], summary)
        for name in RESULTS:
            _before(folder / name).unlink(missing_ok=True)

    def planned(self, study: str) -> dict[str, Any]:
        """Read the last plan of a study: ``runs`` (id -> label), ``waiting`` (number of runs that wait for others),
        ``missing`` (corpora that were missing, and the parts of the study left out because of them), ``models`` (ids of
        the runs whose models are kept), and ``asked`` (the `Asked.view` of each run, in order).
        """
        path = self.folder / "studies" / study / "plan.json"
        planned = _read_json(
            path, hint := f"remove {path.parent} and run `crosslens plan` again; finished runs are kept"
        )
        kinds = {"runs": dict, "waiting": int, "asked": list, "models": list}
        whole = all(isinstance(planned[name], kind) for name, kind in kinds.items() if name in planned)
        if not whole or not {"runs", "asked"} <= planned.keys():
            raise StoreError(f"{path} is damaged: it lists no runs", hint=hint)
        return planned

    def studies(self) -> dict[str, dict[str, str]]:
        """Return the planned runs of each study: study -> run id -> label."""
        files = sorted((self.folder / "studies").glob("*/plan.json"))
        return {file.parent.name: self.planned(file.parent.name)["runs"] for file in files}

    def questions(self, study: str) -> dict[str, set[str]]:
        """Return the ids of the questions of each planned run of a study."""
        planned = self.planned(study)
        questions: dict[str, set[str]] = {run: set() for run in planned["runs"]}
        for view in planned["asked"]:
            questions[view["run"]].update(question for question, _ in view["questions"])
        return questions


def _before(file: Path) -> Path:
    """Name of a study's results of an earlier plan; no command takes them for those of the study."""
    return file.with_name(f"{file.stem}.before{file.suffix}")


def _together(views: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group runs whose scores are averaged: those of several best settings of a search, which share all columns."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for place, view in enumerate(views):
        shared = {name: value for name, value in view["columns"].items() if name != "run"}
        key = json.dumps([shared, view["questions"]], sort_keys=True) if view.get("tuned") else place
        group = groups.setdefault(key, [])
        if view not in group:
            group.append(view)
    return list(groups.values())


def is_store(folder: str | Path) -> bool:
    """Whether a folder is a store of runs."""
    return (Path(folder) / "runs").is_dir() and (Path(folder) / "studies").is_dir()


def _read_json(path: Path, hint: str) -> dict[str, Any]:
    try:
        described = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise StoreError(f"{path} is missing", hint=hint) from None
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: {error}", hint=hint) from None
    if not isinstance(described, dict):
        raise StoreError(f"{path} is damaged: no JSON object", hint=hint)
    return described


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = "choose a folder that you can write to"
        with suppress(OSError):
            if any((folder / "runs").glob("*/run.json")):
                hint = "finished runs are not lost"
        raise StoreError(f"{folder} is not writable: {error.strerror or error}", hint=hint) from None
