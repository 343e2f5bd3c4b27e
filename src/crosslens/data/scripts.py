"""Identify the scripts of a text from the Unicode script property of its letters."""

from collections import Counter
from collections.abc import Collection, Iterable

from fontTools import unicodedata as fonts

NO_SCRIPT = frozenset({"Zyyy", "Zinh", "Zzzz"})
"""Common, inherited and unknown: digits, punctuation, combining marks, private-use and unassigned characters."""


def count_scripts(texts: Iterable[str]) -> dict[str, int]:
    """Count the letters of each script, most frequent first; characters without a script are ignored.

    >>> count_scripts(["naïve мир 42"])
    {'Latn': 5, 'Cyrl': 3}

    Returns:
        ISO 15924 code -> number of letters.
    """
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
    scripts: Counter[str] = Counter()
    for character, count in characters.items():
        script = fonts.script(character)
        if character.isalpha() and script not in NO_SCRIPT:
            scripts[script] += count
    return dict(scripts.most_common())


def main_script(texts: Iterable[str]) -> str | None:
    """Find the script of most letters, as ISO 15924 code; None if no letter has a known script."""
    return next(iter(count_scripts(texts)), None)


WITHOUT_SPACES = frozenset({"Hani", "Hira", "Kana", "Khmr", "Laoo", "Mymr", "Thai", "Tibt"})
"""Scripts that are written without spaces between words."""

LONGEST_MEAN = 10
"""Mean letters of a word that segmented text stays below: PUD has 1.4 (Chinese) to 3.3 (Thai)."""


def unsegmented_script(words: Collection[str]) -> str | None:
    """Find the main script of words that seem to be whole sentences, because they have no spaces between words.

    >>> unsegmented_script(["我们在图书馆里一起学习中文和英文"]), unsegmented_script(["我们", "学习", "中文"])
    ('Hani', None)

    Returns:
        ISO 15924 code, or None for words, and for scripts with spaces.
    """
    without = {script: n for script, n in count_scripts(words).items() if script in WITHOUT_SPACES}
    return next(iter(without)) if sum(without.values()) > LONGEST_MEAN * len(words) else None


def script_name(code: str) -> str:
    """Name of a script.

    >>> script_name("Latn")
    'Latin'
    """
    return fonts.script_name(code, default=code).replace("_", " ")  # pyright: ignore[reportArgumentType]
