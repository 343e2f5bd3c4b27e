"""The corpora that a study names, read once each."""

from crosslens.catalogue import LAB, load_corpus, load_text, match_corpora
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.errors import RequestError, suggest
from crosslens.lab.laboratory import USUAL
from crosslens.lab.presets import find_laboratory
from crosslens.settings import read_settings
from crosslens.studies.study import Data, Source, data_sets
from crosslens.tasks import TASKS
from crosslens.translations import load_parallel

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
