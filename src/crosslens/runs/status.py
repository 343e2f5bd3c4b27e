"""How far studies are, from the store's folders alone."""

import time
from dataclasses import dataclass

from crosslens.formatting import duration
from crosslens.runs.store import Store

LATELY = 3600.0
"""Seconds over which runs an hour are counted."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a study is.

    Attributes:
        study: its name.
        runs: known when it was planned last.
        done: of them.
        running: now, by any process on this machine.
        failed: in their last attempt.
        waiting: for a search for their recipe, or for their encoder.
        per_hour: runs that ended in the last hour, as a rate; 0 where none did.
    """

    study: str
    runs: int
    done: int
    running: int
    failed: int
    waiting: int
    per_hour: float

    def describe(self) -> str:
        """It in one line."""
        left = self.runs - self.done
        words = [f"{self.study}: {self.done} of {self.runs} runs done"]
        words += [f"{self.running} running"] if self.running else []
        words += [f"{self.failed} failed"] if self.failed else []
        words += [f"{self.waiting} wait for others"] if self.waiting else []
        if left and self.per_hour:
            words.append(f"{self.per_hour:.0f} an hour, {duration(3600 * left / self.per_hour)} left")
        return ", ".join(words)


def status(store: Store) -> list[Status]:
    """How far each study of a store is."""
    done, now = set(store.ids()), time.time()
    statuses = []
    for name, runs in store.studies().items():
        ended = [store.path(run).stat().st_mtime for run in runs if run in done]
        lately = sorted(at for at in ended if now - at < LATELY)
        hours = (lately[-1] - lately[0]) / 3600 if len(lately) > 1 else 0.0
        left = [run for run in runs if run not in done]
        waiting = store.planned(name)["waiting"]
        rate = (len(lately) - 1) / hours if hours else 0.0
        running, failed = sum(map(store.claimed, left)), sum(map(store.failed, left))
        statuses.append(Status(name, len(runs), len(ended), running, failed, waiting, rate))
    return statuses
