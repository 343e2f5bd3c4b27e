"""Execute runs as tasks of a Ray cluster."""

import importlib
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute, lost
from crosslens.runs.run import Asked

RETRIES = 3
"""Restarts of a run whose worker or node is lost. Training resumes from its last saved state."""


class Ray:
    """Execute runs as Ray tasks, on the cluster at ``RAY_ADDRESS`` or on this machine.

    The store, the corpora and the encoder must have the same paths on every node.

    Args:
        workers: maximum number of concurrent runs; None: limited by the cluster only.
        options: options of `ray.remote`, such as ``num_gpus=1``; the default is one CPU per run.

    Raises:
        RequestError: when ray is not installed, or an option is not a number.
    """

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        try:
            self.ray = importlib.import_module("ray")  # optional: the type checker must not resolve it
        except ImportError:
            raise RequestError("the executor ray needs ray", hint="pip install 'crosslens[ray]'") from None
        self.workers = workers
        self.options = {"num_cpus": 1.0} | {name: _number(name, value) for name, value in (options or {}).items()}

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Execute runs on the cluster, and yield the outcome of each as it ends."""
        ray = self.ray
        if not ray.is_initialized():
            ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
        task = ray.remote(execute).options(max_retries=RETRIES, **self.options)
        waiting = list(reversed(runs))
        running: dict[Any, Asked] = {}
        try:
            while waiting or running:
                while waiting and len(running) < (self.workers or len(runs)):
                    run = waiting.pop()
                    running[task.remote(run, context)] = run
                (finished, *_), _ = ray.wait(list(running), num_returns=1)
                run = running.pop(finished)
                try:
                    yield ray.get(finished)
                except ray.exceptions.RayError as error:
                    reason = f"its worker or node went away {RETRIES + 1} times: {str(error).splitlines()[0]}"
                    yield lost(run.run, context, reason)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise RequestError(f"ray option {name} must be a number, not {value!r}") from None
