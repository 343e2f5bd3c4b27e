"""Runs on a Ray cluster: one CPU, or one GPU, each."""

import importlib
from collections.abc import Generator, Mapping, Sequence

from crosslens.errors import RequestError
from crosslens.runs.execute import Context, Outcome, execute, lost
from crosslens.runs.run import Asked

RETRIES = 3
"""How often a run is started again whose worker or node went away. Its training goes on where it was saved last."""


class Ray:
    """Runs as tasks of Ray, on the cluster that ``RAY_ADDRESS`` names, or on this machine.

    The store, the corpora and the encoder must be at the same paths on every node.

    Args:
        workers: runs at once; None: as many as the cluster has room for.
        options: of `ray.remote`, such as ``num_gpus=1``.

    Raises:
        RequestError: when ray is not installed.
    """

    def __init__(self, workers: int | None = None, options: Mapping[str, str] | None = None) -> None:
        try:
            self.ray = importlib.import_module("ray")  # an extra; the type checker must not look for it
        except ImportError:
            raise RequestError("the executor ray needs ray", hint="pip install 'crosslens[ray]'") from None
        self.workers = workers
        self.options = {"num_cpus": 1.0} | {name: _number(name, value) for name, value in (options or {}).items()}

    def submit(self, runs: Sequence[Asked], context: Context) -> Generator[Outcome, None, None]:
        """Do runs on the cluster, and yield what became of each as it ends."""
        ray = self.ray
        if not ray.is_initialized():
            ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
        task = ray.remote(execute).options(max_retries=RETRIES, **self.options)
        waiting = list(reversed(runs))
        going: dict = {}
        try:
            while waiting or going:
                while waiting and len(going) < (self.workers or len(runs)):
                    run = waiting.pop()
                    going[task.remote(run, context)] = run
                (ended, *_), _ = ray.wait(list(going), num_returns=1)
                run = going.pop(ended)
                try:
                    yield ray.get(ended)
                except ray.exceptions.RayError as error:
                    reason = f"its worker or node went away {RETRIES + 1} times: {str(error).splitlines()[0]}"
                    yield lost(run.run, context, reason)
        finally:
            for left in going:
                ray.cancel(left, force=True)


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise RequestError(f"ray option {name} must be a number, not {value!r}") from None
