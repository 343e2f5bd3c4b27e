"""Where runs are done: one file an executor, each with one method, and a row in `EXECUTORS`; or a plug-in."""

from collections.abc import Generator, Mapping, Sequence
from typing import Protocol

from crosslens.errors import RequestError, suggest
from crosslens.plugins import Registry
from crosslens.runs.execute import Context, Outcome
from crosslens.runs.executors.processes import Processes
from crosslens.runs.executors.ray import Ray
from crosslens.runs.executors.serial import Serial
from crosslens.runs.executors.slurm import Slurm
from crosslens.runs.run import Asked


class Executor(Protocol):
    """Does runs that do not depend on one another."""

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Do runs, and yield what became of each as it ends. Closing the iterator stops what goes on."""
        ...


EXECUTORS: Registry[type] = Registry(
    "executor",
    {"serial": Serial, "processes": Processes, "ray": Ray, "slurm": Slurm},
    contracts=(Executor,),
    classes=True,
)
"""Name -> executor, a class that is called with the number of its workers and with options of its own: the built-in
ones, and those of the entry points ``crosslens.executors``."""


def find_executor(name: str, *, workers: int | None = None, options: Mapping[str, str] | None = None) -> Executor:
    """An executor by name.

    Raises:
        RequestError: when there is none of that name, it needs a package that is not there, or it has no such options.
    """
    if name not in EXECUTORS:
        raise RequestError(f"there is no executor {name!r}", hint=suggest(name, EXECUTORS))
    return EXECUTORS[name](workers, options)
