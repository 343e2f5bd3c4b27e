"""File names of predictions."""

from collections.abc import Sequence

from crosslens.data.corpus import Corpus
from crosslens.data.formats import FORMATS
from crosslens.digests import digest
from crosslens.errors import RequestError
from crosslens.tasks import Task

MOST_BYTES = 200
"""Most bytes of a name without its extension; file systems allow 255, with what marks an unfinished file."""


def prediction_files(task: Task, corpora: Sequence[Corpus]) -> list[str]:
    """Return a file name for the predictions on each corpus: its name, made safe, with the extension of the format.

    Of names that are too long for a file, the end is kept, behind the first digits of their digest.

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
        if len(stem.encode()) > MOST_BYTES:
            stem = f"{digest(corpus.name)[:12]}-{stem.encode()[-MOST_BYTES + 13 :].decode(errors='ignore')}"
        file = stem + task.format.ending
        if file in files:
            raise RequestError(
                f"the predictions for {files[file]} and {corpus.name} would be one file",
                hint="evaluate them separately",
            )
        files[file] = corpus.name
    return list(files)
