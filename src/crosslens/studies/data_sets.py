"""The sets of corpora that a study names."""

from crosslens.catalogue import LAB
from crosslens.errors import RequestError, suggest
from crosslens.lab.laboratory import USUAL
from crosslens.lab.presets import find_laboratory
from crosslens.settings import read_settings
from crosslens.studies.study import Data, Source, data_sets
from crosslens.tasks import TASKS

LAB_TESTED = 200
"""Sentences of each artificial language that a model is evaluated on."""


LAB_TEXTS = {"document": "lab_topics", "nli": "lab_pairs"}
"""Task -> the collection of artificial languages that has texts for it."""


def find_data(data: Data | str) -> Data:
    """The corpora themselves, where a study has the name of a set of them.

    Args:
        data: the corpora; ``lab``, ``lab:PRESET``; a set that is shipped, or one source of it: ``muller2021:en``.

    Raises:
        RequestError: for a name that there is not.
    """
    if isinstance(data, Data):
        return data
    name, _, part = data.partition(":")
    if name == "lab":
        return _lab(part or USUAL)
    shipped = data_sets()
    if name not in shipped:
        raise RequestError(f"there is no set of corpora {name!r}", hint=suggest(name, [*shipped, "lab"]))
    found = read_settings(shipped[name], Data)
    if not part:
        return found
    tasks = {task: {part: sources[part]} for task, sources in found.tasks.items() if part in sources}
    if not tasks:
        known = {source for sources in found.tasks.values() for source in sources}
        raise RequestError(f"{name} has no source {part!r}", hint=suggest(part, known))
    return found.model_copy(update={"tasks": tasks})


def _lab(preset: str) -> Data:
    """An artificial language as the source of every task, and all of that laboratory as targets."""
    laboratory = find_laboratory(preset)
    source = laboratory.languages[0]

    def of(task: str) -> dict[str, Source]:
        collection = LAB_TEXTS.get(task, LAB)
        names = [laboratory.name(language, collection=collection) for language in laboratory.languages]
        return {source: Source(train=names[0], tests=tuple(f"{name}:test[:{LAB_TESTED}]" for name in names))}

    return Data(
        parallel=laboratory.name("all"),
        recipe="lab",
        tasks={task: of(task) for task in TASKS},
    )
