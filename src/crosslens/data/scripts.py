"""Which scripts a text is written in, by the Unicode property of its letters."""

from collections import Counter
from collections.abc import Iterable

from fontTools import unicodedata as fonts

NO_SCRIPT = frozenset({"Zyyy", "Zinh", "Zzzz"})
"""Common, inherited and unknown: digits, punctuation, combining marks, private and unassigned characters."""


def count_scripts(texts: Iterable[str]) -> dict[str, int]:
    """Letters of each script, ISO 15924 code -> how many, the commonest first; what is of no script is left out."""
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
    """The script of most letters; None where no letter is of a known script."""
    return next(iter(count_scripts(texts)), None)


def script_name(code: str) -> str:
    """``Latin`` for ``Latn``."""
    return fonts.script_name(code, default=code).replace("_", " ")  # pyright: ignore[reportArgumentType]
