"""Word alignments of parallel sentences, from eflomal or from Pharaoh files of any aligner."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import BYTE_ORDER_MARK, read_text
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError, RequestError

Links = tuple[frozenset[tuple[int, int]], ...]
"""For each sentence pair its links: (source word, target word) indices, counted from 0."""


def read_links(path: str | Path, source: Corpus, target: Corpus) -> Links:
    """Read word alignments in Pharaoh format: one sentence pair per line, such as ``0-0 1-2 2-1``, source word first.

    Args:
        path: file; an empty line is a sentence pair without links.
        target: their translations.

    Raises:
        DataError: with file and line, if a link is malformed or out of range; if the number of lines is wrong.
    """
    file = str(path)
    lines = read_text(path).removeprefix(BYTE_ORDER_MARK).split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    if not len(lines) == len(source) == len(target):
        raise DataError(
            f"has {len(lines)} lines, but the corpora have {len(source)} and {len(target)} sentences", file=file
        )
    sentences = zip(lines, source.sentences, target.sentences, strict=True)
    return tuple(read_line(line, a, b, file=file, line=n) for n, (line, a, b) in enumerate(sentences, start=1))


def as_text(links: Links) -> str:
    """Write word alignments in Pharaoh format, which `read_links` reads.

    >>> as_text((frozenset({(1, 2), (0, 0)}), frozenset()))
    '0-0 1-2\\n\\n'
    """
    return "".join(" ".join(f"{i}-{j}" for i, j in sorted(pairs)) + "\n" for pairs in links)


def read_line(text: str, source: Sentence, target: Sentence, *, file: str, line: int) -> frozenset[tuple[int, int]]:
    """Read the links of one sentence pair.

    Raises:
        DataError: if a link is malformed or out of range.
    """
    pairs = set()
    for link in text.split():
        left, dash, right = link.partition("-")
        if not (dash and left.isdecimal() and right.isdecimal()):
            raise DataError(f"{link!r} is not a link", file=file, line=line, hint="links are written 0-0 1-2")
        i, j = int(left), int(right)
        if i >= len(source) or j >= len(target):
            raise DataError(
                f"the link {link} is out of range: the sentences have {len(source)} and {len(target)} words",
                file=file,
                line=line,
                hint="check that the links count the same words from 0, source first",
            )
        pairs.add((i, j))
    return frozenset(pairs)


def align_words(source: Corpus, target: Corpus) -> Links:
    """Align the words of parallel sentences with eflomal (Östling & Tiedemann 2016), in both directions.

    Links that both directions have are returned, at most one a word. eflomal samples without a seed. For reproducible
    results, keep the links in a file.

    Raises:
        RequestError: if eflomal is not installed, or the numbers of sentences differ.
    """
    try:
        import eflomal  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise RequestError(
            "aligning words needs eflomal",
            hint="pip install 'crosslens[align]'; `align transfer` (--links FILE) and patch (links=FILE) also read the"
            " links of any aligner",
        ) from None
    if len(source) != len(target):
        raise RequestError(f"not parallel: {source.name} has {len(source)} sentences, {target.name} {len(target)}")
    # A word with spaces, such as French "4 000", stays one word.
    sides = [
        [" ".join("_".join(word.split()) for word in sentence.words).lower() + "\n" for sentence in corpus.sentences]
        for corpus in (source, target)
    ]
    with TemporaryDirectory(prefix="crosslens-") as folder:
        files = [Path(folder) / direction for direction in ("forward", "backward")]
        eflomal.Aligner().align(
            sides[0], sides[1], links_filename_fwd=str(files[0]), links_filename_rev=str(files[1]), quiet=True
        )
        directions = [read_links(file, source, target) for file in files]
    return tuple(forward & backward for forward, backward in zip(*directions, strict=True))


def one_to_one(links: Sequence[frozenset[tuple[int, int]]]) -> list[tuple[int, int, int]]:
    """List the links whose words have no other link, as (sentence, source word, target word).

    >>> one_to_one([frozenset({(0, 0), (1, 1), (1, 2)})])
    [(0, 0, 0)]
    """
    unique = []
    for number, pairs in enumerate(links):
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        unique += [(number, i, j) for i, j in sorted(pairs) if left.count(i) == 1 and right.count(j) == 1]
    return unique
