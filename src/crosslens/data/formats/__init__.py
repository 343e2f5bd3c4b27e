"""File formats as values: a filename extension, and the functions that read and write such a file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats import conllu, iob, tsv


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of annotated corpora.

    Attributes:
        ending: the filename extension, such as ``.conllu``.
        read: ``read(path, name=…, language=…, split=…)``: the corpus in a file; raises `DataError` with file and line.
        write: ``write(corpus, path)``: writes the whole file or nothing.
    """

    ending: str
    read: Callable[..., Corpus]
    write: Callable[[Corpus, str | Path], None]


CONLLU = Format(".conllu", conllu.read, conllu.write)
IOB2 = Format(".iob2", iob.read, iob.write)
TSV = Format(".tsv", tsv.read, tsv.write)

FORMATS = {format.ending: format for format in (CONLLU, IOB2, TSV)}
"""Filename extension -> format."""
