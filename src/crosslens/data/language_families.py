"""Names, families and usual scripts of languages, from a table that is shipped."""

import csv
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

import langcodes
from langcodes.tag_parser import LanguageTagError

from crosslens.data.scripts import script_name


@dataclass(frozen=True, slots=True)
class KnownLanguage:
    """A language of the table.

    Attributes:
        tag: its BCP 47 tag.
        name: its English name (CLDR).
        family: its family, and for Indo-European its branch (Glottolog): ``Uralic``, ``Indo-European, Slavic``.
        script: name of the script that it is usually written in (CLDR), or of that in the tag; "" if it is unknown.
    """

    tag: str
    name: str
    family: str
    script: str


def parse_language(tag: str) -> langcodes.Language:
    """Split a tag into language, script and region, which are None in text that is not a tag.

    >>> parse_language("ug-Latn").script, parse_language("a language of mine").language
    ('Latn', None)
    """
    try:
        return langcodes.Language.get(tag)
    except LanguageTagError:
        return langcodes.Language.make()


def bare_language(tag: str) -> str:
    """The language of a tag, without its script and region; of a tag that names none, the tag.

    >>> bare_language("ug-Latn"), bare_language("sr-Cyrl-RS"), bare_language("a language of mine")
    ('ug', 'sr', 'a language of mine')
    """
    return parse_language(tag).language or tag


def macrolanguage(tag: str) -> str:
    """The macrolanguage of ISO 639-3 that the language of a tag is part of, or else that language itself.

    >>> macrolanguage("pes-Arab"), macrolanguage("fa"), macrolanguage("nb"), macrolanguage("a language of mine")
    ('fa', 'fa', 'no', 'a language of mine')
    """
    language = bare_language(tag)
    if language in ("nb", "nn"):  # which CLDR does not list
        return "no"
    return langcodes.standardize_tag(language, macro=True) if langcodes.tag_is_valid(language) else language


def known_language(tag: str | None) -> KnownLanguage | None:
    """Look up a language; None for languages that are not in the table, such as the artificial ones.

    >>> known_language("fr")
    KnownLanguage(tag='fr', name='French', family='Indo-European, Romance', script='Latin')
    >>> known_language("ug-Latn").script, known_language("ug").script, known_language("sov")
    ('Latin', 'Arabic', None)
    """
    if not tag or not langcodes.tag_is_valid(tag):
        return None
    parsed = langcodes.Language.get(tag)
    known = _table().get(tag) or _table().get(parsed.language or "")
    if known is None or not parsed.script:
        return known
    return replace(known, tag=tag, script=script_name(parsed.script))


@cache
def _table() -> dict[str, KnownLanguage]:
    file = resources.files("crosslens.data") / "tables" / "languages.csv"
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {row["tag"]: KnownLanguage(**row) for row in csv.DictReader(lines)}
