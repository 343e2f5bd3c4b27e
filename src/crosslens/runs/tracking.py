"""Experiment trackers: TensorBoard, Weights & Biases, MLflow and Trackio show losses and scores of a run."""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from crosslens.errors import RequestError, require_known
from crosslens.results.record import Results

PROJECT = "crosslens"
"""Default project, or experiment, of a tracker."""


@dataclass(frozen=True, slots=True)
class Tracker:
    """A run of an experiment tracker, or several.

    Pass ``stepped`` and ``validated`` to `crosslens.finetune`.

    Attributes:
        log: function of the number of steps done and of the values by name.
    """

    log: Callable[[int, Mapping[str, float]], None]

    def stepped(self, step: int, loss: float) -> None:
        """Log the mean loss of a step as ``train/loss``."""
        self.log(step, {"train/loss": loss})

    def validated(self, step: int, scores: Mapping[str, float]) -> None:
        """Log dev scores or perplexities as ``dev/NAME``."""
        self.log(step, {f"dev/{name}": value for name, value in scores.items()})

    def evaluated(self, step: int, results: Results) -> None:
        """Log test scores as ``test/CORPUS/METRIC``."""
        self.log(step, {f"test/{row.corpus}/{row.metric}": row.value for row in results if row.value is not None})


@contextmanager
def tracking(name: str, *, run: str, settings: Mapping[str, Any]) -> Iterator[Tracker]:
    """Start a run of an experiment tracker, and end it with the block.

    Args:
        name: ``tensorboard``, ``wandb``, ``mlflow`` or ``trackio``; with a place, ``tensorboard=FOLDER`` or
            ``wandb=PROJECT`` (default: the folder ``runs`` as in transformers, or the project ``crosslens``).
        settings: setting -> value, shown with the run.

    Raises:
        RequestError: for an unknown tracker, or one whose package is not installed.
    """
    kind, _, place = name.partition("=")
    require_known(kind, TRACKERS, "unknown tracker")
    package, start = TRACKERS[kind]
    try:
        module = importlib.import_module(package)
    except ImportError:
        raise RequestError(f"--track {kind} needs the package {kind}", hint=f"pip install {kind}") from None
    log, end = start(module, place, run, dict(settings))
    try:
        yield Tracker(log)
    finally:
        end()


_Started = tuple[Callable[[int, Mapping[str, float]], None], Callable[[], object]]


def _tensorboard(module: ModuleType, place: str, run: str, settings: dict[str, Any]) -> _Started:
    writer = module.SummaryWriter(f"{place or 'runs'}/{run}")
    writer.add_text("settings", "\n".join(f"    {key}: {value}" for key, value in settings.items()))

    def log(step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            writer.add_scalar(name, value, step)

    return log, writer.close


def _wandb(module: ModuleType, place: str, run: str, settings: dict[str, Any]) -> _Started:
    module.init(project=place or PROJECT, name=run, config=settings)
    return lambda step, values: module.log(dict(values), step=step), module.finish


def _mlflow(module: ModuleType, place: str, run: str, settings: dict[str, Any]) -> _Started:
    module.set_experiment(place or PROJECT)
    module.start_run(run_name=run)
    module.log_params(settings)

    def log(step: int, values: Mapping[str, float]) -> None:
        module.log_metrics({_PLAIN.sub("_", name): value for name, value in values.items()}, step=step)

    return log, module.end_run


_PLAIN = re.compile(r"[^\w\-. :/]")
"""Characters that MLflow refuses in names, such as the brackets of ``ud/fr_pud[:500]``."""


TRACKERS: dict[str, tuple[str, Callable[[ModuleType, str, str, dict[str, Any]], _Started]]] = {
    "tensorboard": ("torch.utils.tensorboard", _tensorboard),
    "wandb": ("wandb", _wandb),
    "mlflow": ("mlflow", _mlflow),
    "trackio": ("trackio", _wandb),  # has the functions of wandb
}
"""Name of a tracker -> module, and function that starts a run."""
