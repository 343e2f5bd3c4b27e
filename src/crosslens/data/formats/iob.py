"""Read and write named entities as IOB tags, in the layouts of UNER, CoNLL, MasakhaNER and WikiANN.

Each line has one word, and an empty line ends a sentence. The layouts differ in their columns:

    UNER         ``1 <tab> Paris <tab> B-LOC <tab> - <tab> annotator``, with comments as in CoNLL-U
    CoNLL        ``Paris NNP B-NP B-LOC``, word first and tag last, separated by tabs or spaces; also MasakhaNER
    MultiNERD    ``0 <tab> Paris <tab> B-LOC``, the same behind the word's number
    WikiANN      ``en:Paris <tab> B-LOC``, with the language before every word
    no tags      ``Paris``, unannotated text; a comment is a sentence id, or begins with ``#`` and a space

Tags are kept unchanged, even invalid ones (an I- that continues nothing); `crosslens.scores.spans` decides how to
read them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crosslens.data.corpus import Corpus
from crosslens.data.formats.lines import (
    BYTE_ORDER_MARK,
    as_field,
    blocks,
    joined,
    normal,
    read_blocks,
    read_text,
    sentence_id,
)
from crosslens.data.sentence import Sentence, Where
from crosslens.errors import DataError, warn
from crosslens.files import write_bytes
from crosslens.formatting import counted

TAG = re.compile(r"O|[BI]-\S+")
_OTHER_SCHEME = re.compile(r"[ESLUM]-\S+")
_LANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]+)*|simple):")  # simple: the Wikipedia in simple English
_COLUMN = re.compile(r"[^ \t]+")
"""A column, whatever separates it from the others."""
CONLLU_COLUMNS = 10
"""Columns of a CoNLL-U file, which is often named as the older formats are: ``.conll``."""
DOCUMENT = "-DOCSTART-"
"""Prefix of the line between documents in CoNLL files."""
LONGEST_LONE_SENTENCE = 500
"""Words of a file's only sentence above which it probably lacks the empty lines between sentences."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Column layout of a file.

    Attributes:
        word: index of the word column.
        tag: index of the tag column, or None.
        separator: column separator: a tab or a space.
        prefix: prefix of every word, such as ``en:``.
        start: number of the first word, if the words are numbered.
    """

    columns: int
    word: int
    tag: int | None
    separator: str
    prefix: str = ""
    start: int = 1

    @property
    def numbered(self) -> bool:
        """Whether the first column counts the words."""
        return self.word == 1

    def split(self, line: str) -> list[str]:
        """Split a line into columns."""
        return line.split("\t") if self.separator == "\t" else [part for part in line.split(" ") if part]


def read(
    path: str | Path,
    *,
    name: str | None = None,
    language: str | None = None,
    split: str | None = None,
    prefixed: bool | None = None,
    otherwise: str | None = None,
) -> Corpus:
    """Read an IOB file; its layout is recognised from the columns of the first word.

    Args:
        prefixed: whether every word has a language prefix, as in WikiANN; None: if more than half of the words
            have the same one.
        otherwise: encoding of a file that is not UTF-8; None rejects it.

    Raises:
        DataError: with file and line, for a file that is missing, empty or not UTF-8; a line with another number of
            columns or another separator than the first; an invalid IOB tag; an entity type in two spellings that
            differ in capital letters; missing ids; or a word without its prefix.
    """
    file = str(path)
    sentence_blocks = list(read_blocks(path, otherwise=otherwise))
    layout = _layout([line for _, block in sentence_blocks for line in block], prefixed)
    sentences = []
    waiting: list[str] = []  # lines between documents belong to the next sentence
    for start, block in sentence_blocks:
        sentence = _sentence([*waiting, *block], start - len(waiting), file, layout)
        waiting = [] if sentence else [*waiting, *block]
        sentences += [sentence] if sentence else []
    if not sentences:
        raise DataError("contains no sentences", file=file, hint="check that this is the right file")
    if len(sentences) == 1 and len(sentences[0].words) > LONGEST_LONE_SENTENCE:
        warn(f"{file} is one sentence of {len(sentences[0].words):,} words: an empty line must end each sentence")
    _refuse_two_spellings(sentences, file)
    return Corpus(tuple(sentences), name or file, language, split)


def write(corpus: Corpus, path: str | Path) -> None:
    """Write a corpus with entities, atomically.

    Sentences read from an IOB file keep their lines, with only changed tags replaced; others are written in UNER's
    layout.

    Raises:
        DataError: for a corpus of running text, or without entities.
    """
    write_bytes(path, to_text(corpus).encode("utf-8"))


def to_text(corpus: Corpus) -> str:
    """Write a corpus as IOB text; unchanged sentences keep their original lines."""
    corpus.require("entities")
    lines = [line for sentence in corpus.sentences for line in sentence.lines or ()]
    layout = _layout(lines, None) if all(sentence.lines for sentence in corpus.sentences) else None
    if layout is not None and layout.tag is not None and not _same_words(corpus, layout):
        layout = None
    return joined(_lines(sentence, layout) for sentence in corpus.sentences)


def is_iob(path: str | Path) -> bool:
    """Whether the first word of a file has a tag, to tell IOB from plain text in ``.txt`` files."""
    lines = [line for _, block in blocks(read_text(path)) for line in block]
    layout = _layout(lines, None)
    if layout.tag is None:
        return False
    tag = layout.split(_words(lines)[0])[layout.tag]
    return bool(TAG.fullmatch(tag) or _OTHER_SCHEME.fullmatch(tag))


def _layout(lines: Sequence[str], prefixed: bool | None) -> Layout:
    words = _words(lines)
    if not words:
        return Layout(1, 0, None, "\t")
    separator = "\t" if "\t" in words[0] else " "
    untagged = Layout(1, 0, None, separator)
    columns = untagged.split(words[0])
    if separator == "\t" and len(columns) >= 4 and columns[0] == "1" and TAG.fullmatch(columns[2]):
        return Layout(len(columns), 1, 2, separator)
    if len(columns) == 1:
        return untagged
    if len(columns) >= 3 and columns[0] in ("0", "1") and _counted([untagged.split(word)[0] for word in words]):
        return Layout(len(columns), 1, len(columns) - 1, separator, start=int(columns[0]))
    prefix = "" if prefixed is False else _prefix(words)
    if not prefixed and 2 * sum(row.startswith(prefix) for row in words) <= len(words):
        prefix = ""  # words with a colon, not languages
    return Layout(len(columns), 0, len(columns) - 1, separator, prefix)


def _counted(numbers: Sequence[str]) -> bool:
    """Whether these count the words of sentences: each is the first number again, or one more than that before it."""
    start = numbers[0]
    pairs = zip([start, *numbers], numbers, strict=False)
    return len({*numbers}) > 1 and all(number == start or number == str(int(before) + 1) for before, number in pairs)


def _words(lines: Sequence[str]) -> list[str]:
    """The lines of words, without their endings and a byte order mark; those that begin with # count as comments."""
    rows = [line.rstrip("\r\n").removeprefix(BYTE_ORDER_MARK) for line in lines]
    return [row for row in rows if row.strip() and not row.startswith(("#", DOCUMENT))]


def _prefix(rows: Sequence[str]) -> str:
    """The most frequent language prefix of the words; empty without any."""
    prefixes = Counter(match[0] for match in map(_LANGUAGE.match, rows) if match)
    return next((prefix for prefix, _ in prefixes.most_common(1)), "")


def _sentence(block: Sequence[str], start: int, file: str, layout: Layout) -> Sentence | None:
    """Parse a block; None if it has no sentence, as around the lines between documents."""
    words: list[str] = []
    tags: list[str] = []
    name = None
    first = None
    for number, whole in enumerate(block, start=start):
        line = whole.rstrip("\r\n").removeprefix(BYTE_ORDER_MARK)
        if not line.strip() or line.startswith(DOCUMENT):
            continue
        first = first or number
        columns = layout.split(line)
        if _is_comment(line, columns, layout):
            name = sentence_id(line) or name
            continue
        if len(columns) != layout.columns or (layout.separator == " " and "\t" in line):
            raise _other_columns(line, layout, file, number)
        if layout.numbered and columns[0] != (expected := str(layout.start + len(words))):
            hint = "an empty line separates sentences" if columns[0] == str(layout.start) else None
            reason = f"unexpected id {columns[0]!r}, expected {expected}"
            raise DataError(reason, file=file, line=number, hint=hint)
        word = columns[layout.word]
        if not word.startswith(layout.prefix):
            raise DataError(f"the word {word!r} lacks the prefix {layout.prefix!r}", file=file, line=number)
        word = normal(word[len(layout.prefix) :])  # the first only: en:12:30 is the word 12:30
        if not word:
            raise DataError("the word has no form", file=file, line=number)
        words.append(word)
        if layout.tag is not None:
            tags.append(_tag(columns[layout.tag], file, number, layout))
    if not words:
        return None
    return Sentence(
        words=tuple(words),
        entities=tuple(tags) if layout.tag is not None else None,
        id=name,
        where=Where(file, first or start),
        lines=tuple(block),
    )


def _other_columns(line: str, layout: Layout, file: str, number: int) -> DataError:
    """The error for a line with other columns, or other separators, than the first word of the file."""
    count = len(_COLUMN.findall(line) if layout.separator == " " else layout.split(line))
    if len(_COLUMN.findall(line)) == layout.columns:
        separators = "tabs" if layout.separator == "\t" else "spaces"
        reason = f"the columns are not separated by {separators}, but those of the first word of the file are"
        return DataError(reason, file=file, line=number, hint=f"separate them by {separators} in all lines")
    hint = "every word needs its tag" if count < layout.columns or layout.tag is None else None
    reason = f"{counted(count, 'column', 'columns')}, but the first word of the file has {layout.columns}"
    return DataError(reason, file=file, line=number, hint=hint)


def _is_comment(line: str, columns: Sequence[str], layout: Layout) -> bool:
    """Whether a line is a comment: it begins with #, as a word such as #MeToo can too where words are not numbered."""
    if not line.startswith("#"):
        return False
    if layout.numbered:
        return True
    if layout.tag is None:
        return line.startswith("# ") or sentence_id(line) is not None
    return len(columns) != layout.columns or not TAG.fullmatch(columns[layout.tag])


def _tag(tag: str, file: str, line: int, layout: Layout) -> str:
    is_conllu = layout.columns == CONLLU_COLUMNS and layout.separator == "\t"
    hint = "the file looks like CoNLL-U: let its name end in .conllu" if is_conllu else None
    return check_tag(tag, file=file, line=line, hint=hint)


def check_tag(tag: str, *, file: str, line: int, hint: str | None = None) -> str:
    """Return a tag, if it is an IOB tag.

    Args:
        hint: hint for a tag that is not; None: what tags are.

    Raises:
        DataError: with file and line, if it is not.
    """
    if TAG.fullmatch(tag):
        return tag
    more = "; convert BIOES and BILOU to IOB2 first" if _OTHER_SCHEME.fullmatch(tag) else ""
    more = "; numbers need their names, as in a data set of the library datasets" if tag.isdigit() else more
    more += ", and outside an entity stands the letter O" if tag == "0" else ""
    raise DataError(
        f"{tag!r} is not an IOB tag", file=file, line=line, hint=hint or f"tags are O, B-TYPE and I-TYPE{more}"
    )


def _refuse_two_spellings(sentences: Sequence[Sentence], file: str) -> None:
    """Refuse ``B-Per`` beside ``B-PER``, which would be another type; the more frequent spelling is the right one."""
    types = Counter(tag[2:] for sentence in sentences for tag in sentence.entities or () if tag != "O")
    spellings: dict[str, str] = {}
    for kind, _ in types.most_common():
        frequent = spellings.setdefault(kind.casefold(), kind)
        if frequent != kind:
            tagged = (s for s in sentences if any(tag[2:] == kind for tag in s.entities or ()))
            where = next(tagged).where
            reason = f"the sentence has entities of type {kind!r}, which is {frequent!r} elsewhere in the file"
            raise DataError(reason, file=file, line=where.line if where else None, hint=f"write {frequent}")


def _same_words(corpus: Corpus, layout: Layout) -> bool:
    """Whether the original lines of all sentences have this layout and the same words."""
    for sentence in corpus.sentences:
        try:
            again = _sentence(sentence.lines or (), 1, corpus.name, layout)
        except DataError:
            return False
        if again is None or again.words != sentence.words:
            return False
    return True


def _lines(sentence: Sentence, layout: Layout | None) -> Iterator[str]:
    tags = sentence.entities or ()
    if layout is None or layout.tag is None:
        bare = (line.rstrip("\r\n").removeprefix(BYTE_ORDER_MARK) for line in sentence.lines or ())
        hashtags = {word for word in sentence.words if word.startswith("#")}
        comments = (line for line in bare if line.startswith("#") and "\t" not in line)
        yield from (f"{line}\n" for line in comments if normal(line.strip()) not in hashtags)
        for number, (word, tag) in enumerate(zip(sentence.words, tags, strict=True), start=1):
            yield f"{number}\t{as_field(word)}\t{tag}\t-\t-\n"
        yield "\n"
        return
    word = 0
    for whole in sentence.lines or ():
        line = whole.rstrip("\r\n")
        content = line.removeprefix(BYTE_ORDER_MARK)
        columns = layout.split(content)
        if not content.strip() or content.startswith(DOCUMENT) or _is_comment(content, columns, layout):
            yield whole
            continue
        old, word = columns[layout.tag], word + 1
        if old == tags[word - 1]:
            yield whole
            continue
        # The tag's last occurrence in a line that ends with it, or the column of a line cut at tabs.
        if layout.separator == "\t":
            parts = line.split("\t")
            parts[layout.tag] = tags[word - 1]
            yield "\t".join(parts) + whole[len(line) :]
        else:
            body = line.rstrip(" ")
            yield body[: len(body) - len(old)] + tags[word - 1] + line[len(body) :] + whole[len(line) :]
