"""File names of predictions."""

from collections.abc import Sequence

from crosslens.data.corpus import Corpus
from crosslens.data.formats import FORMATS
from crosslens.errors import RequestError
from crosslens.tasks import Task


def prediction_files(task: Task, corpora: Sequence[Corpus]) -> list[str]:
    """File names for the predictions of each corpus: its name, made safe for files, with the format's extension.

    Raises:
        RequestError: when two corpora would have the same file name.
    """
    files: dict[str, str] = {}
    for corpus in corpora:
        bare = corpus.name
        for ending in (*FORMATS, task.format.ending):
            bare = bare.removesuffix(ending)
        bare = bare.strip("./")
        for character in '/\\:*?"<>|':
            bare = bare.replace(character, "-" if character == ":" else "_")
        file = bare + task.format.ending
        if file in files:
            raise RequestError(
                f"the predictions for {files[file]} and {corpus.name} would be one file",
                hint="evaluate them separately",
            )
        files[file] = corpus.name
    return list(files)
