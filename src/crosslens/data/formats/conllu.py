"""CoNLL-U: a strict reader, and a writer that gives the same bytes back where nothing was changed.

A sentence keeps its own lines. What is not understood here (multiword ranges, empty nodes, comments, morphology,
MISC) stays in them; writing replaces only the columns whose values differ from what the lines say.

https://universaldependencies.org/format.html
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import BYTE_ORDER_MARK, blocks, normal, read_text, sentence_id
from crosslens.data.sentence import Sentence, Where
from crosslens.errors import DataError
from crosslens.files import write_bytes

COLUMNS = 10
FORM, UPOS, HEAD, DEPREL = 1, 3, 6, 7
ABSENT = "_"


def read(
    path: str | Path,
    *,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
    release: str | None = None,
) -> Corpus:
    """Read a CoNLL-U file.

    The words are the syntactic words, without multiword ranges and empty nodes, normalised to NFC. A layer (UPOS,
    HEAD, DEPREL) that is ``_`` on every word of a sentence is absent there. A byte order mark, Windows line ends,
    comments as in UD version 1, forms with spaces and a missing last newline are read, and written back.

    Args:
        path: the file.
        name: what errors and records call the corpus; the path by default.
        language: its BCP 47 tag.
        split: ``train``, ``dev`` or ``test``.
        release: of the treebank.

    Raises:
        DataError: with file and line: for a file that is missing, empty or not UTF-8; a wrong number of columns; ids
            that skip or repeat; heads that are no numbers, out of range or circular; an annotation that some words
            of a sentence have and others lack.
    """
    file = str(path)
    sentences = tuple(_sentence(block, file, start) for start, block in blocks(read_text(path)))
    if not sentences:
        raise DataError("contains no sentences", file=file, hint="check that this is the right file")
    return Corpus(sentences, name or file, language, split, release)


def write(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as CoNLL-U, whole or not at all.

    Raises:
        DataError: for a corpus of running text.
    """
    write_bytes(path, to_text(corpus).encode("utf-8"))


def to_text(corpus: Corpus) -> str:
    """Write a corpus as CoNLL-U text; unchanged sentences keep their original lines.

    >>> corpus = Corpus((Sentence(("Go",), upos=("VERB",), heads=(0,), relations=("root",)),), name="toy")
    >>> to_text(corpus).splitlines()[0]
    '# text = Go'
    >>> to_text(corpus).splitlines()[1].split("\\t")[:4]
    ['1', 'Go', '_', 'VERB']
    """
    return "".join("".join(_lines(sentence)) for sentence in corpus.sentences)


def check_trees(corpus: Corpus) -> None:
    """Check that every sentence is a tree with exactly one root, as UD has it; parsing needs that, tagging does not.

    Raises:
        DataError: naming the first sentence that is none.
    """
    corpus.require("heads", "relations")
    for sentence in corpus.sentences:
        roots = (sentence.heads or ()).count(0)
        if roots != 1:
            file, line = sentence.where or (corpus.name, None)
            raise DataError(f"the sentence has {roots or 'no'} roots, but a tree has exactly one", file=file, line=line)


def _sentence(block: Sequence[str], file: str, start: int) -> Sentence:
    forms: list[str] = []
    upos: list[str] = []
    heads: list[str] = []
    relations: list[str] = []
    lines: list[int] = []
    name = None
    words = 0
    first = None
    range_end, range_line, node = 0, 0, 0  # where the last multiword range ends; the last empty node behind this word
    for number, line in enumerate(block, start=start):
        line = line.rstrip("\r\n")
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
        if not line:
            continue
        first = first or number
        if line[0] == "#":
            if words:
                raise DataError("comment between the words of a sentence", file=file, line=number, hint=_SEPARATE)
            name = sentence_id(line) or name
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            hint = "columns are separated by tabs" if len(columns) == 1 else None
            raise DataError(f"{len(columns)} columns, but CoNLL-U has 10", file=file, line=number, hint=hint)
        identifier = columns[0]
        if identifier == str(words + 1):
            if not columns[FORM]:
                raise DataError("the word has no form", file=file, line=number)
            words, node = words + 1, 0
            forms.append(columns[FORM])
            upos.append(columns[UPOS])
            heads.append(columns[HEAD])
            relations.append(columns[DEPREL])
            lines.append(number)
        elif (last := _range_end(identifier, words)) is not None and range_end <= words:
            range_end, range_line = last, number
        elif identifier == f"{words}.{node + 1}":
            node += 1
        else:
            hint = _SEPARATE if identifier == "1" else None
            raise DataError(f"unexpected id {identifier!r}, expected {words + 1}", file=file, line=number, hint=hint)
    where = Where(file, first or start)
    if not words:
        raise DataError("sentence without words", file=file, line=where.line)
    if range_end > words:
        raise DataError(
            f"the multiword range ends at {range_end}, after the last word {words}", file=file, line=range_line
        )
    numbers = None if all(head == ABSENT for head in heads) else _heads(heads, file, lines)
    return Sentence(
        words=tuple(map(normal, forms)),
        upos=_layer(upos, "UPOS", file, lines),
        heads=numbers,
        relations=_layer(relations, "DEPREL", file, lines),
        id=name,
        where=where,
        lines=tuple(block),
    )


_SEPARATE = "an empty line separates sentences"


def _range_end(identifier: str, words: int) -> int | None:
    """The last word of a multiword range that begins behind so many words; None when it is no such range."""
    begin, _, end = identifier.partition("-")
    return int(end) if begin == str(words + 1) and end.isdecimal() and int(end) >= int(begin) else None


def _layer(values: list[str], name: str, file: str, lines: Sequence[int]) -> tuple[str, ...] | None:
    missing = values.count(ABSENT)
    if missing == len(values):
        return None
    if missing or "" in values:
        place = next(i for i, value in enumerate(values) if value in (ABSENT, ""))
        raise DataError(
            f"the word has no {name}, but other words of the sentence have one", file=file, line=lines[place]
        )
    return tuple(values)


def _heads(heads: Sequence[str], file: str, lines: Sequence[int]) -> tuple[int, ...]:
    """Heads as numbers: in range, and without a circle."""
    words = len(heads)
    together = "".join(heads)
    if not (together.isdecimal() and together.isascii()) or "" in heads:
        place = next(i for i, head in enumerate(heads) if not (head.isdecimal() and head.isascii()))
        raise DataError(f"head {heads[place]!r} is not a number", file=file, line=lines[place])
    up = tuple(map(int, heads))
    if max(up) > words:
        place = next(i for i, head in enumerate(up) if head > words)
        raise DataError(f"head {up[place]} is outside the sentence of {words} words", file=file, line=lines[place])
    above = [0, *up]
    steps = 1
    while any(above) and steps <= words:  # twice as far up each time: behind more steps than words, all are at the root
        above = [above[at] for at in above]
        steps *= 2
    if any(above):  # or in a circle
        circle = [min(filter(None, above))]
        while (head := up[circle[-1] - 1]) != circle[0]:
            circle.append(head)
        way = " → ".join(map(str, [*circle, head]))
        raise DataError(f"the heads form a cycle: {way}", file=file, line=lines[head - 1])
    return up


def _lines(sentence: Sentence) -> Iterator[str]:
    """A sentence's own lines with what changed in them; new ones where it has none, or others than words of CoNLL-U."""
    rows = [line for line in sentence.lines or () if line.removeprefix(BYTE_ORDER_MARK).partition("\t")[0].isdecimal()]
    if len(rows) != len(sentence) or any(row.count("\t") != COLUMNS - 1 for row in rows):
        yield from _new_lines(sentence)
        return
    word = 0
    for position, whole in enumerate(sentence.lines or ()):
        line = whole.removeprefix(BYTE_ORDER_MARK) if position == 0 else whole
        if not line.partition("\t")[0].isdecimal():
            yield whole
            continue
        columns = line.split("\t")
        before = columns.copy()
        if normal(columns[FORM]) != sentence.words[word]:
            columns[FORM] = sentence.words[word]
        columns[UPOS] = sentence.upos[word] if sentence.upos else ABSENT
        columns[HEAD] = str(sentence.heads[word]) if sentence.heads else ABSENT
        columns[DEPREL] = sentence.relations[word] if sentence.relations else ABSENT
        word += 1
        yield whole if columns == before else whole[: len(whole) - len(line)] + "\t".join(columns)


def _new_lines(sentence: Sentence) -> Iterator[str]:
    if sentence.id:
        yield f"# sent_id = {sentence.id}\n"
    yield f"# text = {' '.join(sentence.words)}\n"
    for index, word in enumerate(sentence.words):
        upos = sentence.upos[index] if sentence.upos else ABSENT
        head = str(sentence.heads[index]) if sentence.heads else ABSENT
        relation = sentence.relations[index] if sentence.relations else ABSENT
        yield "\t".join([str(index + 1), word, ABSENT, upos, ABSENT, ABSENT, head, relation, ABSENT, ABSENT]) + "\n"
    yield "\n"
