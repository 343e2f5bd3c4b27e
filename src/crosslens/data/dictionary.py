"""Bilingual dictionaries with one word pair per line, as in MUSE and PanLex."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from crosslens.data.formats.lines import normal, numbered_lines
from crosslens.errors import DataError


@dataclass(frozen=True)
class Dictionary:
    """A bilingual dictionary of weighted word pairs.

    >>> dictionary = of_words([("cat", "chat"), ("cat", "matou")], name="toy")
    >>> dictionary.translations
    {'cat': [('chat', 1.0), ('matou', 1.0)]}
    >>> dictionary.reversed().pairs[0]
    ('chat', 'cat', 1.0)

    Attributes:
        pairs: ``(source, target, weight)`` in the order of the file, Unicode-normalised to NFC; a source word may
            occur several times.
        name: dictionary name or path.
        languages: source and target language, if the name has them.
    """

    pairs: tuple[tuple[str, str, float], ...]
    name: str
    languages: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        pairs = tuple((normal(source), normal(target), weight) for source, target, weight in self.pairs)
        object.__setattr__(self, "pairs", pairs)

    def __repr__(self) -> str:
        """Describe the dictionary in one line; MUSE has a hundred thousand pairs."""
        return f"Dictionary {self.name}: {len(self):,} word pairs"

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.pairs)

    @cached_property
    def translations(self) -> dict[str, list[tuple[str, float]]]:
        """Source word -> its translations with their weights."""
        translations: dict[str, list[tuple[str, float]]] = {}
        for source, target, weight in self.pairs:
            translations.setdefault(source, []).append((target, weight))
        return translations

    def reversed(self) -> "Dictionary":
        """The dictionary in the opposite direction."""
        pairs = tuple((target, source, weight) for source, target, weight in self.pairs)
        languages = None if self.languages is None else (self.languages[1], self.languages[0])
        return Dictionary(pairs, self.name, languages)


def read(path: str | Path, *, name: str | None = None) -> Dictionary:
    """Read a dictionary file.

    Each line is ``source target``, separated by a space or a tab (MUSE), or ``source``, ``target`` and a weight,
    separated by tabs (PanLex's translation quality).

    Raises:
        DataError: with file and line, for any other line, a weight that is not a positive number, or a file without
            word pairs, or whose columns are separated by commas.
    """
    file = str(path)
    pairs = []
    for number, line in numbered_lines(path):
        line = line.strip()
        if line:
            pairs.append(_pair(line, file, number))
    if not pairs:
        raise DataError("contains no word pairs", file=file)
    if all(source.endswith((",", ";")) for source, _, _ in pairs):  # single words of MUSE do, too
        reason = f"every first word ends in a comma or semicolon, such as {pairs[0][0]!r}"
        raise DataError(reason, file=file, hint=_TABS)
    return Dictionary(tuple(pairs), name or file)


def of_words(pairs: Iterable[tuple[str, str]], *, name: str) -> Dictionary:
    """Build a dictionary from word pairs with weight 1."""
    return Dictionary(tuple((source, target, 1.0) for source, target in pairs), name)


_TABS = "separate the columns by tabs where words contain spaces or pairs have weights; commas are part of words"


def _pair(line: str, file: str, number: int) -> tuple[str, str, float]:
    columns = [column.strip() for column in line.split("\t")] if "\t" in line else line.split()
    if len(columns) not in (2, 3) or (len(columns) == 3 and "\t" not in line) or not all(columns):
        raise DataError(
            f"a word pair has two columns, but this line has {len(columns)}",
            file=file,
            line=number,
            hint=_TABS,
        )
    if len(columns) == 2:
        return columns[0], columns[1], 1.0
    try:
        weight = float(columns[2])
    except ValueError:
        weight = 0.0
    if not 0 < weight < float("inf"):
        raise DataError(f"weight {columns[2]!r} is not a positive number", file=file, line=number)
    return columns[0], columns[1], weight
