"""The sets of corpora that a study names."""

from collections.abc import Sequence

from crosslens.errors import RequestError, suggest
from crosslens.lab.laboratory import DEFAULT_PRESET
from crosslens.lab.presets import find_laboratory
from crosslens.settings import read_settings
from crosslens.studies.study import Data, Source, data_sets
from crosslens.tasks import TASKS, find_task

LAB_TESTED = 200
"""Sentences of each artificial language that a model is evaluated on."""


def find_data(data: Data | str, *, tasks: Sequence[str] | None = None) -> Data:
    """The corpora themselves, where a study has the name of a set of them.

    Args:
        data: the corpora; ``lab``, ``lab:PRESET``; a set that is shipped, or one source of it: ``muller2021:en``.
        tasks: the study's; ``lab`` has every built-in task, and the plug-ins that are named here, so that a study
            does not change with what is installed.

    Raises:
        RequestError: for a name that there is not.
    """
    if isinstance(data, Data):
        return data
    name, _, part = data.partition(":")
    if name == "lab":
        return _lab(part or DEFAULT_PRESET, tasks or ())
    shipped = data_sets()
    if name not in shipped:
        raise RequestError(f"there is no set of corpora {name!r}", hint=suggest(name, [*shipped, "lab"]))
    shipped_data = read_settings(shipped[name], Data)
    if not part:
        return shipped_data
    chosen = {task: {part: sources[part]} for task, sources in shipped_data.tasks.items() if part in sources}
    if not chosen:
        known = {source for sources in shipped_data.tasks.values() for source in sources}
        raise RequestError(f"{name} has no source {part!r}", hint=suggest(part, known))
    return shipped_data.model_copy(update={"tasks": chosen})


def _lab(preset: str, named: Sequence[str]) -> Data:
    """An artificial language as the source of every task, and all of that laboratory as targets."""
    laboratory = find_laboratory(preset)
    source = laboratory.languages[0]

    def of(collection: str) -> dict[str, Source]:
        names = [laboratory.name(language, collection=collection) for language in laboratory.languages]
        return {source: Source(train=names[0], tests=tuple(f"{name}:test[:{LAB_TESTED}]" for name in names))}

    tasks = [find_task(task) for task in dict.fromkeys((*TASKS.built_in, *named))]
    return Data(
        parallel=laboratory.name("all"),
        recipe="lab",
        tasks={task.name: of(task.laboratory) for task in tasks if task.laboratory is not None},
    )
