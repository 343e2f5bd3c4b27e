"""Options and functions shared by commands on studies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from crosslens.cli._options import setting_option
from crosslens.errors import RequestError

if TYPE_CHECKING:
    from crosslens.runs.store import Store
    from crosslens.studies.study import Study

store_option = click.option(
    "--out", required=True, metavar="FOLDER", help="Folder of runs; several studies can share one."
)
set_option = setting_option("Override of a study setting: encoder=lab:good, seeds=[1,2].")

skip_missing_option = click.option(
    "--skip-missing",
    is_flag=True,
    help="Leave out targets, sources, tasks, probes and similarity whose corpora are missing.",
)


def find_study(name: str, settings: tuple[str, ...]) -> "Study":
    """Read a study by name or file, and apply ``--set``."""
    from crosslens.cli._options import read_settings
    from crosslens.studies.study import read_study

    return read_study(name, overrides=read_settings(settings))


def find_store(folder: str) -> "Store":
    """Open an existing folder of runs.

    Raises:
        RequestError: if the folder is not a folder of runs.
    """
    from crosslens.runs.store import Store, is_store

    if not is_store(folder):
        raise RequestError(f"{folder} is not a folder of runs", hint="`crosslens run STUDY --out FOLDER` makes one")
    return Store(folder)


def mean_seconds(store: "Store") -> dict[str, float]:
    """Map each task to the mean training time of its finished runs, in seconds."""
    times: dict[str, list[float]] = {}
    for run in store.ids():
        described = store.describe(run)
        if "facts" in described and "task" in described["identity"]:  # other runs train no task
            times.setdefault(described["identity"]["task"], []).append(described["facts"]["seconds"])
    return {task: sum(seconds) / len(seconds) for task, seconds in times.items()}


def describe_differences(different: Mapping[str, tuple[Any, Any]]) -> str:
    """Describe the differences between two runs in one line.

    >>> describe_differences({"seed": (2, 1), "recipe.batch": (16, 32)})
    'recipe.batch: 16 instead of 32; seed: 2 instead of 1'
    """

    def short(value: Any) -> str:
        text = str(value)
        return text[:12] + "…" if len(text) > 40 else text

    return "; ".join(f"{name}: {short(a)} instead of {short(b)}" for name, (a, b) in sorted(different.items()))
