"""Pairs of languages as they are written: ``en-fr``, ``zh-Hant-en``, ``en-*``."""

import re
from collections.abc import Collection, Sequence

from crosslens.errors import RequestError

_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
"""A language, and perhaps its script and region (BCP 47)."""


def split_pair(pair: str, languages: Collection[str] = ()) -> tuple[str, str]:
    """Split a language pair.

    >>> split_pair("en-fr")
    ('en', 'fr')
    >>> split_pair("zh-Hant-en")
    ('zh-Hant', 'en')

    Args:
        pair: two language tags joined by a hyphen.
        languages: available languages, which resolve tags with hyphens such as ``zh-Hant``. If empty, the form of the
            tags decides.

    Raises:
        RequestError: if ``pair`` is not two languages.
    """
    parts = pair.split("-")
    ways = [("-".join(parts[:i]), "-".join(parts[i:])) for i in range(1, len(parts))]
    known = [way for way in ways if all(language in (*languages, "*") for language in way)]
    if not known and len(parts) == 2 and all(parts):
        known = ways
    if not known and not languages:
        known = [way for way in ways if all(_TAG.fullmatch(language) for language in way)]
    if not known:
        raise RequestError(f"{pair!r} is not a language pair", hint="write it as en-fr")
    return known[0]


def expand_pairs(pairs: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Expand ``*`` in pairs: ``en-*`` is English with every other language.

    >>> expand_pairs(["en-*"], ["de", "en", "fr"])
    ['en-de', 'en-fr']
    """
    expanded = []
    for pair in pairs:
        source, target = split_pair(pair, languages)
        for a in languages if source == "*" else [source]:
            expanded += [f"{a}-{b}" for b in (languages if target == "*" else [target]) if a != b or "*" not in pair]
    return list(dict.fromkeys(expanded))
