"""Identify the scripts of a text from the Unicode script property of its letters."""

from collections import Counter
from collections.abc import Iterable

from fontTools import unicodedata as fonts

NO_SCRIPT = frozenset({"Zyyy", "Zinh", "Zzzz"})
"""Common, inherited and unknown: digits, punctuation, combining marks, private-use and unassigned characters."""


def count_scripts(texts: Iterable[str]) -> dict[str, int]:
    """Count the letters of each script, most frequent first; characters without a script are ignored.

    >>> count_scripts(["naïve мир 42"])
    {'Latn': 5, 'Cyrl': 3}

    Args:
        texts: the texts to count together.

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


def script_name(code: str) -> str:
    """Name of a script.

    >>> script_name("Latn")
    'Latin'
    """
    return fonts.script_name(code, default=code).replace("_", " ")  # pyright: ignore[reportArgumentType]
