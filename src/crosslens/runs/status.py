"""Report the progress of studies from the folders of a store."""

import time
from dataclasses import dataclass
from functools import cache, partial

from crosslens.errors import StoreError
from crosslens.formatting import duration
from crosslens.runs.store import Store

RATE_WINDOW = 3600.0
"""Seconds over which the rate of finished runs is measured."""


@dataclass(frozen=True, slots=True)
class Status:
    """Progress of a study.

    Attributes:
        study: name of the study.
        runs: number of runs when the study was last planned.
        done: finished runs, with all answers that the study asks for, and with their models if the study keeps them.
        running: runs that any process on this machine works on.
        failed: runs whose last attempt failed.
        waiting: runs that wait for a recipe search or for their encoder.
        per_hour: finished runs per hour, over the last hour; 0 if unknown.
        damaged: finished runs with a file that is missing or damaged.
        active: whether a process on this machine runs the study.
        given_up: failed runs that this process does not retry; a repeated command retries all that failed before.
    """

    study: str
    runs: int
    done: int
    running: int
    failed: int
    waiting: int
    per_hour: float
    damaged: int = 0
    active: bool = False
    given_up: int = 0

    @property
    def ended(self) -> bool:
        """Whether all runs are finished, failed, or wait for failed ones, and no process works on the study."""
        settled = self.done + self.failed == self.runs and (self.failed or not self.waiting)
        return bool(settled) and not (self.running or self.active)

    def describe(self) -> str:
        """Return the status as one line."""
        remaining = self.runs - self.done - self.given_up
        words = [f"{self.study}: {self.done} of {self.runs} runs done"]
        words += [f"{self.running} running"] if self.running else []
        some = f"{self.given_up} " if self.given_up < self.failed else ""
        until = f" ({some}not retried until the command is repeated)" if self.given_up else ""
        words += [f"{self.failed} failed{until}"] if self.failed else []
        words += [f"{self.damaged} damaged (`crosslens plan` names the file)"] if self.damaged else []
        words += [f"{self.waiting} wait for others"] if self.waiting else []
        if remaining and self.per_hour:
            words.append(f"{self.per_hour:.0f} an hour, {duration(3600 * remaining / self.per_hour)} left")
        return ", ".join(words)


def status(store: Store) -> list[Status]:
    """Return the status of each study in a store."""
    published, now = set(store.ids()), time.time()
    answered = cache(partial(_answered, store))
    statuses = []
    for name, runs in store.studies().items():
        planned, asked = store.planned(name), store.questions(name)
        lacking = {run for run in planned.get("models", ()) if not store.model(run).is_dir()}
        damaged = {run for run in runs if run in published and answered(run) is None}
        whole = {run for run in runs if run in published and asked[run] <= (answered(run) or set())}
        done = damaged | (whole - lacking)
        times = [store.path(run).stat().st_mtime for run in done]
        recent = sorted(finished for finished in times if now - finished < RATE_WINDOW)
        hours = (recent[-1] - recent[0]) / 3600 if len(recent) > 1 else 0.0
        remaining = [run for run in runs if run not in done]
        rate = (len(recent) - 1) / hours if hours else 0.0
        running, began = set(filter(store.claimed, remaining)), store.claimed_since(f"{name}.study")
        failed = {run: when for run in remaining if (when := store.failed_at(run)) is not None}
        given_up = [run for run, when in failed.items() if began is not None and when > began and run not in running]
        counts = (len(runs), len(done), len(running), len(failed), planned["waiting"])
        statuses.append(Status(name, *counts, rate, len(damaged), began is not None, len(given_up)))
    return statuses


def _answered(store: Store, run: str) -> set[str] | None:
    """Ids of the answered questions of a finished run; None if a file is missing or damaged.

    Counts, which are large, are not read.
    """
    try:
        store.check(run)
        return store.answered(run)
    except StoreError:
        return None
