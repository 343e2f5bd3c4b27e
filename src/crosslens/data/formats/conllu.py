"""CoNLL-U: a strict reader, and a writer that reproduces unchanged sentences byte by byte.

Sentences keep their original lines, including multiword ranges, empty nodes, comments, morphology and MISC. Writing
replaces only the columns whose values have changed.

https://universaldependencies.org/format.html
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from sys import intern

from crosslens.data.corpus import Corpus, item_error, selected
from crosslens.data.formats.lines import BYTE_ORDER_MARK, as_field, joined, normal, read_blocks, sentence_id
from crosslens.data.sentence import UPOS as UPOS_TAGS
from crosslens.data.sentence import Sentence, Where
from crosslens.errors import DataError
from crosslens.files import write_bytes
from crosslens.formatting import counted

COLUMNS = 10
FORM, UPOS, HEAD, DEPREL = 1, 3, 6, 7
ABSENT = "_"
LAYERS = ("upos", "heads", "relations")
MOST_DIGITS = 18
"""Longer numbers are outside any sentence, and Python does not read numbers of thousands of digits."""


def read(
    path: str | Path,
    *,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
    release: str | None = None,
    cycles: bool = False,
    incomplete: Collection[str] = (),
) -> Corpus:
    """Read a CoNLL-U file.

    Words are syntactic words, without multiword ranges and empty nodes, normalised to NFC. A layer (UPOS, HEAD, DEPREL)
    that is ``_`` for every word of a sentence is absent. A byte order mark, Windows line endings, UD 1 comments, forms
    with spaces, empty lines of spaces or tabs and a missing last newline are accepted and preserved.

    Args:
        name: name of the corpus in errors and records; the path by default.
        release: release of the treebank.
        cycles: whether heads may form cycles, as those of a parser that chooses each head alone.
        incomplete: those of `LAYERS` that may be annotated for only some words of a sentence;
            the sentence is then without the layer.

    Raises:
        DataError: with file and line, for a file that is missing, empty or not UTF-8; a wrong number of columns;
            missing or repeated ids; UPOS tags in small letters, relations such as ``Nsubj``, or white space around
            them; heads that are not numbers, out of range or cyclic; or
            annotation of only some words of a sentence.
    """
    file = str(path)
    partly: dict[str, int] = {}
    sentences = tuple(_sentence(block, file, start, partly, cycles=cycles) for start, block in read_blocks(path))
    if not sentences:
        raise DataError("contains no sentences", file=file, hint="check that this is the right file")
    refused = {layer: line for layer, line in partly.items() if layer not in incomplete}
    if refused:
        raise _partly_annotated(file, sentences, *min(refused.items(), key=lambda place: place[1]))
    return Corpus(sentences, name or file, language, split, release)


def write(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus as CoNLL-U, atomically.

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
    return joined(map(_lines, corpus.sentences))


def check_trees(corpus: Corpus) -> None:
    """Check that every sentence is a tree with exactly one root, as parsing requires.

    Raises:
        DataError: naming the first sentence that is not.
    """
    corpus.require("heads", "relations")
    for sentence in corpus.sentences:
        roots = (sentence.heads or ()).count(0)
        if roots != 1:
            raise item_error(corpus, sentence, f"the sentence has {roots or 'no'} roots, but a tree has exactly one")


def _sentence(block: Sequence[str], file: str, start: int, partly: dict[str, int], *, cycles: bool) -> Sentence:
    """Read a sentence; ``partly`` gets the line of the first word without a layer that other words of it have."""
    forms: list[str] = []
    upos: list[str] = []
    heads: list[str] = []
    relations: list[str] = []
    lines: list[int] = []
    name = None
    words = 0
    first = None
    range_end, range_line, node = 0, 0, 0  # end of the last multiword range; last empty node after this word
    for number, line in enumerate(block, start=start):
        line = line.rstrip("\r\n").removeprefix(BYTE_ORDER_MARK)  # of any line, as files may be joined by cat
        if not line.strip(" \t"):
            continue
        first = first or number
        if line[0] == "#":
            if words:
                raise DataError("comment between the words of a sentence", file=file, line=number, hint=_SEPARATE)
            name = sentence_id(line) or name
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            hint = "write _ in columns without a value" if len(columns) < COLUMNS else None
            hint = "columns are separated by tabs" if len(columns) == 1 else hint
            raise DataError(
                f"{counted(len(columns), 'column', 'columns')}, but CoNLL-U has 10", file=file, line=number, hint=hint
            )
        identifier = columns[0]
        if identifier == str(words + 1):
            if not columns[FORM]:
                raise DataError("the word has no form", file=file, line=number)
            words, node = words + 1, 0
            forms.append(intern(normal(columns[FORM])))  # of millions of words, each form is in memory once
            upos.append(intern(columns[UPOS]))
            heads.append(columns[HEAD])
            relations.append(intern(columns[DEPREL]))
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
    for kind, values in (("UPOS tag", upos), ("relation", relations)):
        for value, line in zip(values, lines, strict=True):
            if hint := _misspelling(kind, value):
                raise DataError(f"{value!r} is not a {kind}", file=file, line=line, hint=hint)
    for layer, values in zip(LAYERS, (upos, heads, relations), strict=True):
        if ABSENT in values or "" in values:
            if values.count(ABSENT) < words:
                partly.setdefault(layer, next(lines[i] for i, value in enumerate(values) if value in (ABSENT, "")))
            values.clear()
    return Sentence(
        words=tuple(forms),
        upos=tuple(upos) or None,
        heads=_heads(heads, file, lines, cycles=cycles) if heads else None,
        relations=tuple(relations) or None,
        id=name,
        where=where,
        lines=tuple(block),
    )


_RELATION = re.compile(
    "(acl|advcl|advmod|amod|appos|aux|case|cc|ccomp|clf|compound|conj|cop|csubj|dep|det|discourse|dislocated|expl|fixed"
    "|flat|goeswith|iobj|list|mark|nmod|nsubj|nummod|obj|obl|orphan|parataxis|punct|reparandum|root|vocative|xcomp)(:.*)?"
)
"""A relation of UD 2, with or without a subtype."""
_SEPARATE = "an empty line separates sentences"


def _range_end(identifier: str, words: int) -> int | None:
    """Last word of a multiword range that begins at the next word; None if the id is not such a range."""
    begin, _, end = identifier.partition("-")
    if begin != str(words + 1) or not end.isdecimal() or len(end) > MOST_DIGITS:
        return None
    return int(end) if int(end) >= int(begin) else None


@cache
def _misspelling(kind: str, value: str) -> str | None:
    """Hint for ``noun``, ``NOUN `` and ``Nsubj``, which would be other labels than those of all other treebanks; None
    for the labels of UD, and of other tag sets, which are read.
    """
    if value != value.strip():
        return f"write {value.strip()}, without white space" if value.strip() else f"write {ABSENT} for no {kind}"
    if kind == "UPOS tag":
        return f"write {value.upper()}, in capital letters" if value != value.upper() in UPOS_TAGS else None
    right = value.lower()
    other = value in (right, value.upper())  # older sets of relations are in capitals, with ROOT and OBJ among them
    return None if other or not _RELATION.fullmatch(right) else f"write {right}, in small letters"


def _partly_annotated(file: str, sentences: Sequence[Sentence], layer: str, line: int) -> DataError:
    """The error for a word without a layer that other words of its sentence have, with the number of such sentences."""
    column = _COLUMN[layer]
    message = f"the word has no {column}, but other words of the sentence have one"
    lacking = sum(getattr(sentence, layer) is None for sentence in sentences)
    hint = "annotate every word of the sentence, or leave it out"
    if lacking > 1:
        message += f" ({lacking:,} of {len(sentences):,} sentences are not fully annotated)"
    if lacking < len(sentences):
        hint = f"annotate every word of the sentence, or write {selected(file, layer)} to leave such sentences out"
    hint += f"; only where {column} is to be predicted, {ABSENT} can stand in all of them"
    return DataError(message, file=file, line=line, hint=hint)


_COLUMN: dict[str, str] = dict(zip(LAYERS, ("UPOS", "HEAD", "DEPREL"), strict=True))


def _heads(heads: Sequence[str], file: str, lines: Sequence[int], *, cycles: bool) -> tuple[int, ...]:
    """Parse the heads and check that they are in range, and acyclic unless cycles are allowed."""
    words = len(heads)
    together = "".join(heads)
    if not (together.isdecimal() and together.isascii()):
        place = next(i for i, head in enumerate(heads) if not (head.isdecimal() and head.isascii()))
        raise DataError(f"head {heads[place]!r} is not a number", file=file, line=lines[place])
    up = tuple(int(head) if len(head) <= MOST_DIGITS else words + 1 for head in heads)
    if max(up) > words:
        place = next(i for i, head in enumerate(up) if head > words)
        raise DataError(f"head {heads[place]} is outside the sentence of {words} words", file=file, line=lines[place])
    if cycles:
        return up
    above = [0, *up]
    steps = 1
    while any(above) and steps <= words:  # doubles the distance: after as many steps as words, all are at the root
        above = [above[at] for at in above]
        steps *= 2
    if any(above):  # or in a cycle
        cycle = [min(filter(None, above))]
        while (head := up[cycle[-1] - 1]) != cycle[0]:
            cycle.append(head)
        path = " → ".join(map(str, [*cycle, head]))
        raise DataError(f"the heads form a cycle: {path}", file=file, line=lines[head - 1])
    return up


def _lines(sentence: Sentence) -> Iterator[str]:
    """Original lines of a sentence with its changes, or new lines if it has none in CoNLL-U."""
    rows = [line for line in sentence.lines or () if line.removeprefix(BYTE_ORDER_MARK).partition("\t")[0].isdecimal()]
    if len(rows) != len(sentence) or any(row.count("\t") != COLUMNS - 1 for row in rows):
        yield from _new_lines(sentence)
        return
    word = 0
    for whole in sentence.lines or ():
        line = whole.removeprefix(BYTE_ORDER_MARK)
        if not line.partition("\t")[0].isdecimal():
            yield whole
            continue
        columns = line.split("\t")
        before = columns.copy()
        if normal(columns[FORM]) != sentence.words[word]:
            columns[FORM] = sentence.words[word]
        columns[UPOS], columns[HEAD], columns[DEPREL] = _annotation(sentence, word)
        word += 1
        yield whole if columns == before else whole[: len(whole) - len(line)] + "\t".join(columns)


def _new_lines(sentence: Sentence) -> Iterator[str]:
    if sentence.id:
        yield f"# sent_id = {sentence.id}\n"
    words = [as_field(word) for word in sentence.words]
    text, misc = _running_text(sentence.text, words)
    yield f"# text = {text}\n"
    for index, word in enumerate(words):
        upos, head, relation = _annotation(sentence, index)
        columns = [str(index + 1), word, ABSENT, upos, ABSENT, ABSENT, head, relation, ABSENT, misc[index]]
        yield "\t".join(columns) + "\n"
    yield "\n"


def _running_text(text: str, words: Sequence[str]) -> tuple[str, list[str]]:
    """The running text of words and their MISC; they are joined by spaces if the text has others.

    >>> _running_text("Il dort.", ["Il", "dort", "."]), _running_text("Il dort.", ["Elle"])
    (('Il dort.', ['_', 'SpaceAfter=No', '_']), ('Elle', ['_']))
    """
    misc, place = [], 0
    for word in words:
        if not text.startswith(word, place):
            break
        end = place = place + len(word)
        while text[place : place + 1].isspace():
            place += 1
        misc.append("SpaceAfter=No" if end == place < len(text) else ABSENT)
    if len(misc) < len(words) or place < len(text):
        return " ".join(words), [ABSENT] * len(words)
    return text, misc


def _annotation(sentence: Sentence, word: int) -> list[str]:
    """UPOS, HEAD and DEPREL of a word, as columns."""
    layers = (sentence.upos, sentence.heads, sentence.relations)
    return [str(layer[word]) if layer else ABSENT for layer in layers]
