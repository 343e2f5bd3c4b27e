"""Files of predictions, in the format of a task's annotation."""

from collections.abc import Sequence
from pathlib import Path

from crosslens.data import conllu, iob, tsv
from crosslens.data.corpus import Corpus
from crosslens.errors import RequestError
from crosslens.tasks import Task

_FORMATS = {".conllu": conllu, ".iob2": iob, ".tsv": tsv}


def write_predictions(task: Task, predicted: Corpus, path: str | Path) -> None:
    """Write a predicted corpus in the format of its annotation; everything else in it is kept.

    Args:
        task: what was predicted.
        predicted: from `predict`.
        path: the file.
    """
    _FORMATS[prediction_suffix(task)].write(predicted, Path(path))


def prediction_suffix(task: Task) -> str:
    """The suffix of files that hold a task's annotation."""
    return ".iob2" if "entities" in task.needs else ".tsv" if "label" in task.needs else ".conllu"


def prediction_files(task: Task, corpora: Sequence[Corpus]) -> list[str]:
    """The file name of each corpus's predictions: the corpus's name, as a file can have it, and the suffix.

    Raises:
        RequestError: when the predictions for two corpora would be one file.
    """
    files: dict[str, str] = {}
    for corpus in corpora:
        bare = corpus.name
        for suffix in _FORMATS:
            bare = bare.removesuffix(suffix)
        bare = bare.strip("./")
        for character in '/\\:*?"<>|':
            bare = bare.replace(character, "-" if character == ":" else "_")
        file = bare + prediction_suffix(task)
        if file in files:
            raise RequestError(
                f"the predictions for {files[file]} and {corpus.name} would be one file",
                hint="evaluate them one by one",
            )
        files[file] = corpus.name
    return list(files)
