"""The store: a folder that keeps runs, each whole or not at all.

    runs/ID/        run.json (identity, provenance), records.parquet, counts.npz (of each sentence), log.txt, and
                    model/ where it was asked for, encoder/ of a run that pretrains one
    failed/ID/      the log and the identity of a run that failed; a run that succeeds later takes its place
    claims/ID       locked by the process that works on the run; the system lets go of it when that process dies
    tmp/            what is being written, and the state of trainings that were interrupted
    studies/NAME/   study.yaml, plan.json, results.csv, summary.csv

It is plain files: it can be copied, and read without crosslens.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from crosslens.errors import DataError, RequestError, StoreError
from crosslens.files import new_folder, write_text
from crosslens.results.record import Results, concatenated, read_results
from crosslens.runs.counts import Counts, read_counts, write_counts
from crosslens.runs.question import KINDS
from crosslens.runs.run import Asked, Run
from crosslens.training import versions

COUNTS = "counts.npz"


class Store:
    """A folder of runs.

    Args:
        folder: of the store; made when it is not there.

    Raises:
        RequestError: when the folder holds something else.
        StoreError: when it cannot be written to.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise RequestError(f"{folder} is a file, not a store of runs")
        if self.folder.is_dir() and any(self.folder.iterdir()) and not (self.folder / "runs").is_dir():
            raise RequestError(f"{folder} is not empty and is not a store of runs", hint="choose another folder")
        with _writing(self.folder):
            for name in ("runs", "failed", "claims", "tmp", "studies"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)

    def path(self, run: str) -> Path:
        """Where a finished run is kept."""
        return self.folder / "runs" / run

    def ids(self) -> list[str]:
        """The finished runs."""
        return sorted(entry.name for entry in os.scandir(self.folder / "runs") if not entry.name.startswith("."))

    def describe(self, run: str) -> dict[str, Any]:
        """A finished run's ``run.json``.

        Raises:
            StoreError: when it is damaged.
        """
        return _read_json(self.path(run) / "run.json")

    def answers(self, run: str) -> Results:
        """A finished run's records, of all that was ever asked of it.

        Raises:
            StoreError: when they are damaged.
        """
        try:
            return read_results(self.path(run) / "records.parquet")
        except DataError as error:
            raise StoreError(error.message, hint=f"remove {self.path(run)} to repeat the run") from None

    def collect(self, study: str) -> Results:
        """A study's results: the answers to its own questions, whatever else the store holds, under its own names.

        Runs that are not done, and questions that are not answered, are passed over. Of a study that was planned when
        training or scoring had another version, that stands among the settings of its records.

        Args:
            study: its name; it was planned in this store.

        Raises:
            StoreError: for a study that an earlier version of crosslens planned and did not finish.
        """
        plan = self.planned(study)
        if "asked" not in plan:  # before records knew their questions
            return self._finished(study)
        now = versions.current()
        older = [f"{name}={number}" for name, number in plan["versions"].items() if now.get(name) != number]
        whole = []
        for view in plan["asked"]:
            if not self.path(view["run"]).is_dir():
                continue
            by_question = {key: records for (key,), records in self.answers(view["run"]).groups("question")}
            for question, kind in view["questions"]:
                if question in by_question:
                    own = KINDS[kind].owns
                    columns = {name: value for name, value in view["columns"].items() if name not in own}
                    records = by_question[question].with_columns(**columns, study=study)
                    if older:
                        settings = records.records["settings"][0].as_py()
                        records = records.with_columns(settings=" ".join(filter(None, [settings, *older])))
                    whole.append(records)
        return concatenated(whole)

    def _finished(self, study: str) -> Results:
        """The results that a study wrote when it was done."""
        path = self.folder / "studies" / study / "results.csv"
        if not path.is_file():
            raise StoreError(
                f"{study} was planned by an earlier version of crosslens and has no results.csv",
                hint="run `crosslens plan` again; finished runs are kept",
            )
        return read_results(path)

    def missing(self, asked: Asked) -> Asked | None:
        """A run with those of its questions that are not answered yet; None when it is done and all are."""
        if not self.path(asked.run.id).is_dir():
            return asked
        answered = set(self.answers(asked.run.id).records["question"].to_pylist())
        left = tuple(question for question in asked.questions if question.id not in answered)
        return replace(asked, questions=left) if left else None

    @contextmanager
    def claim(self, run: str, *, patience: float = 0.0) -> Iterator[bool]:
        """Whether this process alone may work on a run until the block ends.

        The lock is the system's own: when its owner is killed it is free at once, with nothing to clean up.

        Args:
            run: its id.
            patience: seconds to wait for it; who asks whether a run is claimed holds it for a moment.
        """
        lock = FileLock(self.folder / "claims" / run)
        with _writing(self.folder):
            try:
                lock.acquire(timeout=patience)
            except Timeout:
                pass
        try:
            yield lock.is_locked
        finally:
            lock.release()

    def claimed(self, run: str) -> bool:
        """Whether some process works on a run now."""
        if not (self.folder / "claims" / run).exists():
            return False
        with self.claim(run) as claimed:
            return not claimed

    def state(self, run: str) -> Path:
        """Where a training's state is kept while it goes on."""
        return self.folder / "tmp" / f"{run}.state"

    @contextmanager
    def publishing(self, run: str) -> Iterator[Path]:
        """A folder that becomes the finished run when the block ends well; what is there already is not touched.

        Raises:
            StoreError: when it cannot be written.
        """
        with _writing(self.folder), new_folder(self.path(run)) as folder:
            yield folder
        shutil.rmtree(self.folder / "failed" / run, ignore_errors=True)
        self.state(run).unlink(missing_ok=True)

    def add_answers(self, run: str, results: Results, counts: Counts) -> None:
        """More answers of a finished run; each file is replaced whole, and what is answered already stays as it is."""
        known = self.answers(run)
        answered = set(known.records["question"].to_pylist())
        fresh = [records for (question,), records in results.groups("question") if question not in answered]
        with _writing(self.folder):
            write_counts(self.path(run) / COUNTS, {**counts, **read_counts(self.path(run) / COUNTS)})
            concatenated([known, *fresh]).write(self.path(run) / "records.parquet")

    def counts(self, run: str) -> Counts:
        """What each sentence adds to the scores of a finished run."""
        return read_counts(self.path(run) / COUNTS)

    def keep_failure(self, run: Run, log: str) -> None:
        """Keep what is known of a run that failed."""
        folder = self.folder / "failed" / run.id
        with _writing(self.folder):
            shutil.rmtree(folder, ignore_errors=True)
            with new_folder(folder) as partial:
                (partial / "log.txt").write_text(log, "utf-8")
                described = {"run": run.id, "label": run.label, "identity": run.identity}
                (partial / "run.json").write_text(json.dumps(described, indent=1, ensure_ascii=False), "utf-8")

    def failed(self, run: str) -> bool:
        """Whether a run's last attempt failed."""
        return (self.folder / "failed" / run).is_dir()

    def keep_plan(self, study: str, files: dict[str, str]) -> None:
        """Keep what was planned under the study's name: file -> content."""
        folder = self.folder / "studies" / study
        with _writing(self.folder):
            folder.mkdir(exist_ok=True)
            for name, content in files.items():
                write_text(folder / name, content)

    def planned(self, study: str) -> dict[str, Any]:
        """A study as it was planned last: ``runs`` (id -> label), ``waiting`` (how many wait for others), and ``asked``
        (`Asked.view` of all that it asks, in its order).

        Raises:
            StoreError: when that is missing or damaged.
        """
        return _read_json(self.folder / "studies" / study / "plan.json")

    def studies(self) -> dict[str, dict[str, str]]:
        """Study -> its runs as it was planned last: id -> label."""
        files = sorted((self.folder / "studies").glob("*/plan.json"))
        return {file.parent.name: self.planned(file.parent.name)["runs"] for file in files}


def is_store(folder: str | Path) -> bool:
    """Whether a folder is a store of runs."""
    return (Path(folder) / "runs").is_dir() and (Path(folder) / "studies").is_dir()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise StoreError(f"{path} is missing", hint=f"remove {path.parent} to repeat the run") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} is damaged: {error}", hint=f"remove {path.parent} to repeat the run") from None


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{folder} is not writable: {error.strerror or error}", hint="finished runs are not lost"
        ) from None
