"""Files of predictions, in the format of a task's annotation."""

from collections.abc import Sequence

from crosslens.data.corpus import Corpus
from crosslens.data.formats import FORMATS
from crosslens.errors import RequestError
from crosslens.tasks import Task


def prediction_files(task: Task, corpora: Sequence[Corpus]) -> list[str]:
    """The file name of each corpus's predictions: the corpus's name, as a file can have it, and the format's ending.

    Raises:
        RequestError: when the predictions for two corpora would be one file.
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
                hint="evaluate them one by one",
            )
        files[file] = corpus.name
    return list(files)
