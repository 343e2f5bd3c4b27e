"""Executors of runs: one class per module, registered in `EXECUTORS` or by a plug-in."""

from collections.abc import Generator, Mapping, Sequence
from typing import Protocol

from crosslens.errors import require_integer, require_known
from crosslens.plugins import Registry
from crosslens.runs.execute import Context, Outcome
from crosslens.runs.executors.processes import Processes
from crosslens.runs.executors.ray import Ray
from crosslens.runs.executors.serial import Serial
from crosslens.runs.executors.slurm import Slurm
from crosslens.runs.run import Asked


class Executor(Protocol):
    """Executes runs that do not depend on one another."""

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Execute runs, and yield the outcome of each as it ends. Closing the generator stops the remaining runs."""
        ...


EXECUTORS: Registry[type] = Registry(
    "executor",
    {"serial": Serial, "processes": Processes, "ray": Ray, "slurm": Slurm},
    contracts=(Executor,),
    classes=True,
)
"""Name -> executor class, which takes the number of workers and executor-specific options. Includes the plug-ins of the
entry point group ``crosslens.executors``."""


def find_executor(name: str, *, workers: int | None = None, options: Mapping[str, str] | None = None) -> Executor:
    """Create an executor by name.

    Raises:
        RequestError: for an unknown name, fewer than one worker, an unknown option, or a missing package.
    """
    require_known(name, EXECUTORS, "there is no executor")
    if workers is not None:
        workers = require_integer(workers, "workers", least=1)
    return EXECUTORS[name](workers, options)
