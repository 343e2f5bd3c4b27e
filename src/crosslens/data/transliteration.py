"""Transliterate a corpus word by word, keeping its annotation.

Available schemes are ``uroman`` (Hermjakob et al. 2018), ICU transforms (``icu``, ``icu:Cyrillic-Latin``), the shipped
transliteration tables, and any table with two columns. Muller et al. (2021, NAACL) transliterate languages in an unseen
script into one that the encoder knows; raw text and annotated data need the same scheme.
"""

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path

from crosslens.data.corpus import Corpus, require_corpus
from crosslens.data.formats.lines import BYTE_ORDER_MARK, normal, read_text
from crosslens.data.language_families import parse_language
from crosslens.data.scripts import count_scripts, main_script
from crosslens.data.sentence import Item, Sentence
from crosslens.errors import DataError, RequestError, suggest

MERGES = "merges"
"""Value of the third column of a table: the replacement is empty, or shared with another letter, on purpose."""


@dataclass(frozen=True)
class Table:
    """A transliteration table; the longest match is replaced first.

    >>> Table("toy", {"a": "x", "ab": "y"})("aab")
    'xy'

    Attributes:
        name: name or path of the table.
        letters: letter or letter sequence -> replacement.
        merging: letters whose replacement is empty or shared, on purpose.
    """

    name: str
    letters: Mapping[str, str]
    merging: frozenset[str] = frozenset()

    def __call__(self, word: str) -> str:
        return self._pattern.sub(lambda match: self.letters[match[0]], word)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self.letters, key=len, reverse=True))))

    def reversed(self, name: str) -> "Table":
        """Invert the table, without merging letters."""
        return Table(
            name, {replacement: letter for letter, replacement in self.letters.items() if letter not in self.merging}
        )


def shipped_tables() -> dict[str, Path]:
    """Paths of the shipped tables, by name."""
    return {file.stem: file for file in sorted(Path(str(resources.files("crosslens.data") / "tables")).glob("*.tsv"))}


def read_table(path: str | Path, *, name: str | None = None) -> Table:
    """Read a table: a letter and its replacement per line, separated by a tab.

    If a replacement is empty or shared with another letter, a third column must say ``merges``. Empty lines and lines
    that begin with ``#`` and a space are ignored.

    Raises:
        DataError: with file and line, for a malformed line, a duplicate letter, a shared or empty replacement without
            ``merges``, white space inside, or a table without letters.
    """
    file = str(path)
    letters: dict[str, str] = {}
    merging: set[str] = set()
    sources: dict[str, str] = {}
    for number, line in enumerate(read_text(path).removeprefix(BYTE_ORDER_MARK).splitlines(), start=1):
        if not line.strip() or line.startswith("# "):
            continue
        columns = [normal(column) for column in next(csv.reader([line], delimiter="\t", quoting=csv.QUOTE_NONE))]

        def wrong(reason: str, hint: str | None = None, line: int = number) -> DataError:
            return DataError(reason, file=file, line=line, hint=hint)

        letter, replacement, marker = [*columns, "", "", ""][:3]
        if len(columns) not in (2, 3) or not letter or marker not in ("", MERGES):
            raise wrong(
                "expected a letter, a tab and its replacement", f"the optional third column may only be {MERGES}"
            )
        if any(map(str.isspace, letter + replacement)):
            raise wrong(f"{letter!r} → {replacement!r} contains white space, which would split words")
        if letter in letters:
            raise wrong(f"duplicate letter {letter!r}")
        if marker == MERGES:
            merging.add(letter)
        elif not replacement:
            raise wrong(
                f"{letter!r} has an empty replacement", f"if that is intended, write {MERGES} in the third column"
            )
        elif replacement in sources:
            raise wrong(
                f"{letter!r} and {sources[replacement]!r} both become {replacement!r}",
                f"if that is intended, write {MERGES} in the third column of one",
            )
        else:
            sources[replacement] = letter
        letters[letter] = replacement
    if not letters:
        raise DataError("the table contains no letters", file=file)
    return Table(name or file, letters, frozenset(merging))


Scheme = Callable[[str], str]


def reversed_name(table: str) -> str:
    """Name of the inverse of a shipped table.

    >>> reversed_name("cyrillic-latin")
    'latin-cyrillic'
    """
    return "-".join(reversed(table.split("-")))


def find_scheme(name: str, *, language: str | None = None) -> Scheme:
    """Find the function that transliterates a word.

    Args:
        name: ``uroman``; ``icu`` (short for ``icu:Any-Latin``) or another ICU transform; a shipped table such as
            ``uyghur-latin``, or its inverse (``latin-georgian`` for ``georgian-latin``); or a ``.tsv`` file.
        language: language of the text; uroman has rules for some languages.

    Raises:
        RequestError: if the scheme is unknown or a package is missing.
        DataError: if a table cannot be read.
    """
    kind, _, transform = name.partition(":")
    if name == "uroman":
        return _uroman(_alpha3(language))
    if kind == "icu":
        return _icu(transform or "Any-Latin")
    if name.endswith(".tsv"):
        return read_table(name)
    tables = shipped_tables()
    if name in tables:
        return read_table(tables[name], name=name)
    back = reversed_name(name)
    if back in tables:
        return read_table(tables[back], name=back).reversed(name)
    known = ["uroman", "icu", *tables, *map(reversed_name, tables)]
    raise RequestError(
        f"unknown transliteration {name!r}", hint=f"{suggest(name, known)}; or give a table as a .tsv file"
    )


def transliterate(corpus: Corpus, scheme: str) -> Corpus:
    """Transliterate a corpus into another script.

    Words are transliterated one by one, so their number stays the same, and no white space is added within words. A
    word whose transliteration is empty stays unchanged. Running text is split at spaces. Only forms change, not lemmas
    or features; in CoNLL-U, MISC records each original form as ``Original=``.

    Args:
        corpus: sentences of words, or running text.
        scheme: name of the scheme; see `find_scheme`.

    Returns:
        The corpus, named ``NAME@SCHEME``; a new script is added to the tag of its language, as in ``ug-Latn``.

    Raises:
        RequestError: if the scheme is unknown or changes no word of the corpus, or for a name in place of a corpus.
        DataError: if a table cannot be read.

    Examples:
        >>> russian = xl.load_corpus("ud/ru_pud[:1]", data=sample)
        >>> russian.sentences[0].words[:3], xl.transliterate(russian, "cyrillic-latin").sentences[0].words[:3]
        (('«', 'Если', 'передача'), ('«', 'Esli', 'peredača'))
    """
    turn = find_scheme(scheme, language=require_corpus(corpus).language)

    @cache
    def word(old: str) -> str:
        return "".join(part if part.isspace() else _part(part) for part in re.split(r"(\s+)", old)) or old

    def _part(old: str) -> str:
        new = normal("".join(turn(normal(old)).split()))
        # Words must not consist of zero-width and control characters alone.
        return new if any(unicodedata.category(c)[0] != "C" for c in new) else old

    items = tuple(_item(item, word) for item in corpus)
    if all(new == old for new, old in zip(items, corpus, strict=True)):
        raise RequestError(
            f"{scheme} changes no word of {corpus.name}", hint="choose a scheme for the script of the text"
        )
    before, after = (main_script(item.text for item in side) for side in (corpus, items))
    language = corpus.language
    tag = parse_language(language or "")
    if tag.language and after and before != after:
        language = str(tag.update_dict({"script": after}))
    return replace(corpus, items=items, name=f"{corpus.name}@{scheme}", language=language)


def letters_left(before: Corpus, after: Corpus) -> dict[str, int]:
    """Count the letters that a transliteration left in the old script: its scheme has no rule for them.

    Args:
        before: the corpus.
        after: the same corpus, transliterated.

    Returns:
        Letter -> number of occurrences, most frequent first; empty if the scheme writes no other script.

    Examples:
        >>> urdu = xl.load_corpus([["ہم", "ہیں"]], language="ur")
        >>> letters_left(urdu, xl.transliterate(urdu, "uyghur-latin"))
        {'ہ': 2, 'ں': 1}
    """
    scripts, gained = (count_scripts(item.text for item in corpus) for corpus in (before, after))
    old = next(iter(scripts), None)
    if all(count <= scripts.get(script, 0) for script, count in gained.items() if script != old):
        return {}
    characters = Counter(character for item in after for character in item.text)
    return {character: n for character, n in characters.most_common() if main_script([character]) == old}


def _item(item: Item, word: Callable[[str], str]) -> Item:
    if not isinstance(item, Sentence):
        return replace(item, segments=tuple(" ".join(map(word, segment.split())) for segment in item.segments))
    lines = tuple(_line(line, word) for line in item.lines) if item.lines else None
    return replace(item, words=tuple(map(word, item.words)), lines=lines)


_TEXT = re.compile(rf"{BYTE_ORDER_MARK}?# text ?=")


def _line(line: str, word: Callable[[str], str]) -> str:
    """Transliterate an original line: a ``# text`` comment, or a row with the form in the second column."""
    if comment := _TEXT.match(line):
        value = line[comment.end() :]
        ending = value[len(value.rstrip("\r\n")) :]
        return f"{comment[0]} {' '.join(map(word, value.split()))}{ending}"
    columns = line.split("\t")
    if len(columns) != 10 or word(normal(columns[1])) == normal(columns[1]):
        return line
    bare = columns[9].rstrip("\r\n")
    original = "Original=" + columns[1].replace("|", "&#124;")
    columns[9] = (original if bare in ("_", "") else f"{bare}|{original}") + columns[9][len(bare) :]
    columns[1] = word(normal(columns[1]))
    return "\t".join(columns)


def _alpha3(language: str | None) -> str | None:
    tag = parse_language(language or "")
    try:
        return tag.to_alpha3() if tag.language else None
    except LookupError:
        return None


def _uroman(language: str | None) -> Scheme:
    romaniser = _loaded_uroman()
    return lambda word: romaniser.romanize_string(word, lcode=language)  # pyright: ignore


@cache
def _loaded_uroman():
    try:
        from uroman import Uroman  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise _missing("uroman") from None
    return Uroman()


def _icu(transform: str) -> Scheme:
    try:
        import icu  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise _missing("PyICU") from None
    try:
        return icu.Transliterator.createInstance(transform).transliterate  # pyright: ignore[reportAttributeAccessIssue]
    except icu.ICUError:
        known = list(icu.Transliterator.getAvailableIDs())  # pyright: ignore[reportAttributeAccessIssue]
        raise RequestError(f"ICU has no transform {transform!r}", hint=suggest(transform, known)) from None


def _missing(package: str) -> RequestError:
    return RequestError(
        f"this transliteration needs the package {package}, which is not installed",
        hint="pip install 'crosslens[translit]'",
    )
