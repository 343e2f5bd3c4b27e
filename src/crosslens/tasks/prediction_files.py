"""File names of predictions."""

from collections.abc import Sequence

from crosslens.data.corpus import Corpus
from crosslens.data.formats import FORMATS
from crosslens.errors import RequestError
from crosslens.tasks import Task


def prediction_files(task: Task, corpora: Sequence[Corpus]) -> list[str]:
    """Return a file name for the predictions on each corpus: its name, made safe, with the extension of the format.

    Raises:
        RequestError: when two corpora would have the same file name.
    """
    files: dict[str, str] = {}
    for corpus in corpora:
        stem = corpus.name
        for ending in (*FORMATS, task.format.ending):
            stem = stem.removesuffix(ending)
        stem = stem.strip("./")
        for character in '/\\:*?"<>|':
            stem = stem.replace(character, "-" if character == ":" else "_")
        file = stem + task.format.ending
        if file in files:
            raise RequestError(
                f"the predictions for {files[file]} and {corpus.name} would be one file",
                hint="evaluate them separately",
            )
        files[file] = corpus.name
    return list(files)
