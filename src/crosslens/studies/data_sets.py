"""Find the set of corpora that a study names."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from crosslens.errors import RequestError, require_known, suggest
from crosslens.lab.laboratory import DEFAULT_PRESET
from crosslens.lab.presets import find_laboratory
from crosslens.settings import read_settings
from crosslens.studies.study import Data, Source, data_sets
from crosslens.tasks import TASKS, find_task

LAB_TEST_SENTENCES = 200
"""Number of test sentences in each artificial language."""


def find_data(data: Data | str, *, tasks: Sequence[str] | None = None) -> Data:
    """Look up a set of corpora by name.

    Args:
        data: the corpora themselves; ``lab`` or ``lab:PRESET``; a shipped set, or one of its sources:
            ``muller2021:en``.
        tasks: tasks of the study. ``lab`` has every built-in task and the plug-in tasks named here, so that a study
            does not depend on the installed plug-ins.

    Raises:
        RequestError: for an unknown name.
    """
    if isinstance(data, Data):
        return data
    name, _, part = data.partition(":")
    if name == "lab":
        return _lab(part or DEFAULT_PRESET, tasks or ())
    shipped = data_sets()
    require_known(name, (*shipped, "lab"), "there is no set of corpora")
    shipped_data = _read(shipped[name])
    if not part:
        return shipped_data
    of_source = {task: {part: sources[part]} for task, sources in shipped_data.tasks.items() if part in sources}
    if not of_source:
        known = {source for sources in shipped_data.tasks.values() for source in sources}
        raise RequestError(f"{name} has no source {part!r}", hint=suggest(part, known))
    return shipped_data.model_copy(update={"tasks": of_source})


@cache
def _read(path: Path) -> Data:
    return read_settings(path, Data)


def _lab(preset: str, tasks: Sequence[str]) -> Data:
    """Use the first language of a laboratory as the source of every task, and all of its languages as targets."""
    laboratory = find_laboratory(preset)
    source = laboratory.languages[0]

    def of(collection: str) -> dict[str, Source]:
        names = [laboratory.name(language, collection=collection) for language in laboratory.languages]
        return {source: Source(train=names[0], tests=tuple(f"{name}:test[:{LAB_TEST_SENTENCES}]" for name in names))}

    lab_tasks = [find_task(task) for task in dict.fromkeys((*TASKS.built_in, *tasks))]
    return Data(
        parallel=laboratory.name("all"),
        recipe="lab",
        tasks={task.name: of(task.laboratory) for task in lab_tasks if task.laboratory is not None},
    )
