"""File formats of annotated corpora: filename extension, reader and writer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu, iob, tsv


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of annotated corpora.

    Attributes:
        ending: filename extension, such as ``.conllu``.
        read: ``read(path, name=…, language=…, split=…)``, which raises `DataError` with file and line.
        write: ``write(corpus, path)``, which writes atomically.
    """

    ending: str
    read: Callable[..., Corpus]
    write: Callable[[Corpus, str | Path], None]


CONLLU = Format(".conllu", conllu.read, conllu.write)
IOB2 = Format(".iob2", iob.read, iob.write)
TSV = Format(".tsv", tsv.read, tsv.write)

FORMATS = {format.ending: format for format in (CONLLU, IOB2, TSV)}
"""Filename extension -> format."""
