"""Tabulate the corpora of a study by language and task, as Table 1 of Wu & Dredze (2019)."""

from collections.abc import Mapping
from dataclasses import dataclass

from crosslens.corpora.catalogue import load_corpus, match_corpora, named_language, split_joined
from crosslens.errors import DataError
from crosslens.studies.study import Data

MISSING = "missing"
"""Shown in place of a number of sentences if a corpus is not in any data folder."""

Counts = Mapping[str, Mapping[str, str]]
"""Language -> task -> number of training and test sentences."""


@dataclass
class _Sizes:
    """Numbers of sentences of a language, per task; None if a corpus is missing."""

    train: int | None = 0
    test: int | None = 0

    @property
    def text(self) -> str:
        """``12543 + 2077`` for training and test data, ``2077`` for test data alone."""
        train, test = (MISSING if size is None else str(size) for size in (self.train, self.test))
        return test if train == "0" else train if train == test == MISSING else f"{train} + {test}"


def count_by_language(data: Data, *, folder: str | None = None) -> Counts:
    """Count the sentences of a set of corpora.

    Args:
        folder: data folder that is searched first.

    Returns:
        Languages in alphabetical order, each with its tasks. A corpus that is missing, and whose language its name
        does not tell, is left out.
    """
    sizes: dict[str, dict[str, _Sizes]] = {}
    for task, sources in data.tasks.items():
        tests = [test for source in sources.values() for test in source.tests]
        trained = (source.train for source in sources.values() if source.translated_from is None)
        trains = [part for name in trained for part in split_joined(name)]
        for part, patterns in (("train", trains), ("test", tests)):
            matches = [_matches(pattern, folder) for pattern in patterns]
            names = dict.fromkeys(name for of_pattern in matches for name in of_pattern)
            sized = dict(_size(name, part, folder) for name in names)  # a corpus that has several names once
            for (_, language), size in sized.items():
                if language is not None:
                    row = sizes.setdefault(language, {}).setdefault(task, _Sizes())
                    total = getattr(row, part)
                    setattr(row, part, None if size is None or total is None else total + size)
            if not all(matches):  # nobody knows which languages are missing
                for row in (of_task[task] for of_task in sizes.values() if task in of_task):
                    setattr(row, part, getattr(row, part) or None)
    return {language: {task: row.text for task, row in sizes[language].items()} for language in sorted(sizes)}


def _matches(pattern: str, folder: str | None) -> list[str]:
    try:
        return match_corpora(pattern, data=folder)
    except DataError:
        return []


def _size(name: str, split: str, folder: str | None) -> tuple[tuple[str, str | None], int | None]:
    """Full name, language and number of sentences of a corpus; no number if it is missing."""
    try:
        corpus = load_corpus(name, split=split, data=folder)
    except DataError:
        return (name, named_language(name)), None
    return (corpus.name, corpus.language), len(corpus)
