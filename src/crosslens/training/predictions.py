"""Predictions as files: one a corpus, in the format of the task's annotation."""

from collections.abc import Sequence
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats import FORMATS
from crosslens.errors import RequestError
from crosslens.tasks import Task


def write_predictions(task: Task, gold: Corpus, predicted: Corpus, folder: Path) -> None:
    """Write a predicted corpus into a folder; everything of the input that the task does not predict is kept."""
    task.format.write(predicted, folder / file_name(task, gold))


def file_name(task: Task, corpus: Corpus) -> str:
    """The file of a corpus's predictions: its name, as a file can have it, and the ending of the task's format."""
    bare = corpus.name
    for ending in (*FORMATS, task.format.ending):
        bare = bare.removesuffix(ending)
    bare = bare.strip("./")
    for character in '/\\:*?"<>|':
        bare = bare.replace(character, "-" if character == ":" else "_")
    return bare + task.format.ending


def refuse_same_names(task: Task, tests: Sequence[Corpus]) -> None:
    """Refuse corpora whose predictions would be one file.

    Raises:
        RequestError: naming them.
    """
    names: dict[str, str] = {}
    for corpus in tests:
        file = file_name(task, corpus)
        if file in names:
            raise RequestError(
                f"the predictions for {names[file]} and {corpus.name} would be one file",
                hint="evaluate them one by one",
            )
        names[file] = corpus.name
