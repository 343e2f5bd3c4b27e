"""The corpora that a study names, read once each."""

from collections.abc import Sequence

from crosslens.catalogue import load_corpus, load_text, match_corpora
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.errors import RequestError, suggest
from crosslens.lab.laboratory import USUAL
from crosslens.lab.presets import find_laboratory
from crosslens.settings import read_settings
from crosslens.studies.study import Data, Source, data_sets
from crosslens.tasks import TASKS, find_task
from crosslens.translations import load_parallel

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
        return _lab(part or USUAL, tasks or ())
    shipped = data_sets()
    if name not in shipped:
        raise RequestError(f"there is no set of corpora {name!r}", hint=suggest(name, [*shipped, "lab"]))
    found = read_settings(shipped[name], Data)
    if not part:
        return found
    chosen = {task: {part: sources[part]} for task, sources in found.tasks.items() if part in sources}
    if not chosen:
        known = {source for sources in found.tasks.values() for source in sources}
        raise RequestError(f"{name} has no source {part!r}", hint=suggest(part, known))
    return found.model_copy(update={"tasks": chosen})


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


class Corpora:
    """Corpora by name; what was read once is kept.

    Args:
        data: a folder that is looked through first.
    """

    def __init__(self, data: str | None = None) -> None:
        self.data = data
        self._texts: dict[str, Corpus] = {}
        self._corpora: dict[tuple[str, str], Corpus] = {}
        self._parallel: dict[str, Parallel] = {}

    def corpus(self, name: str, *, split: str = "test") -> Corpus:
        """A corpus; see `crosslens.catalogue.load_corpus`."""
        key = (name, split)
        if key not in self._corpora:
            self._corpora[key] = load_corpus(name, split=split, data=self.data)
        return self._corpora[key]

    def text(self, name: str, *, language: str | None = None) -> Corpus:
        """Raw text; see `crosslens.catalogue.load_text`."""
        if name not in self._texts:
            self._texts[name] = load_text(name, language=language, data=self.data)
        return self._texts[name]

    def parallel(self, name: str) -> Parallel:
        """Parallel corpora in all their languages."""
        if name not in self._parallel:
            self._parallel[name] = load_parallel(name, data=self.data)
        return self._parallel[name]

    def matching(self, patterns: tuple[str, ...]) -> list[str]:
        """The names that patterns stand for, each once."""
        found = [name for pattern in patterns for name in match_corpora(pattern, data=self.data)]
        return list(dict.fromkeys(found))
