"""File formats of annotated corpora: filename extension, reader and writer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu, iob, labelled, tsv


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of annotated corpora.

    Attributes:
        ending: filename extension, such as ``.conllu``.
        read: ``read(path, name=…, language=…, split=…)``, which raises `DataError` with file and line. The corpus gets
            the name, by default the path, the BCP 47 tag and the split (``train``, ``dev`` or ``test``).
        write: ``write(corpus, path)``, which writes atomically.
    """

    ending: str
    read: Callable[..., Corpus]
    write: Callable[[Corpus, str | Path], None]


CONLLU = Format(".conllu", conllu.read, conllu.write)
PREDICTED_CONLLU = Format(".conllu", partial(conllu.read, cycles=True), conllu.write)
IOB2 = Format(".iob2", iob.read, iob.write)
TSV = Format(".tsv", tsv.read, tsv.write)
CSV = Format(".csv", labelled.read_csv, labelled.write_csv)
JSONL = Format(".jsonl", labelled.read_jsonl, labelled.write_jsonl)

LABELLED = (TSV, CSV, JSONL)
"""Formats of labelled texts; predictions are written in the first one unless the file is named otherwise."""

PARTLY_LABELLED = tuple(replace(format, read=partial(format.read, incomplete=True)) for format in LABELLED)
"""The same formats in the same order, for texts to predict: every row is read, also one without a label."""

FORMATS = {format.ending: format for format in (CONLLU, IOB2, *LABELLED)}
"""Filename extension -> format."""


def to_complete(format: Format, layers: Collection[str]) -> Format:
    """Format of a file whose annotation a model completes: some words or texts may lack it.

    Args:
        format: format of the task; predictions in IOB2 have no layer of CoNLL-U, so all of them may be incomplete.
        layers: annotation layers that the task needs for training.
    """
    if format in LABELLED:
        return PARTLY_LABELLED[LABELLED.index(format)]
    if format not in (CONLLU, IOB2):
        return format
    return replace(CONLLU, read=partial(conllu.read, incomplete=layers if format is CONLLU else conllu.LAYERS))
