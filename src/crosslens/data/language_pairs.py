"""Parse language pairs such as ``en-fr``, ``zh-Hant-en`` and ``en-*``."""

import re
from collections.abc import Collection, Sequence

from crosslens.errors import RequestError

_TAG = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
"""Language with optional script and region (BCP 47)."""


def split_pair(pair: str, languages: Collection[str] = ()) -> tuple[str, str]:
    """Split a language pair.

    >>> split_pair("en-fr")
    ('en', 'fr')
    >>> split_pair("zh-Hant-en")
    ('zh-Hant', 'en')

    Args:
        pair: two language tags joined by a hyphen.
        languages: available languages, to resolve tags with hyphens such as ``zh-Hant``; pairs of other languages are
            split by the form of the tags.

    Raises:
        RequestError: if ``pair`` does not consist of two languages.
    """
    parts = pair.split("-") if isinstance(pair, str) else []
    splits = [("-".join(parts[:i]), "-".join(parts[i:])) for i in range(1, len(parts))]
    valid = [split for split in splits if all(language in (*languages, "*") for language in split)]
    if not valid and len(parts) == 2 and all(parts):
        valid = splits
    if not valid:  # whoever reads the corpus says which language it lacks
        valid = [split for split in splits if all(_TAG.fullmatch(language) for language in split)]
    if not valid:
        raise RequestError(f"{pair!r} is not a language pair", hint="write it as en-fr")
    return valid[0]


def expand_pairs(pairs: str | Sequence[str], languages: Sequence[str]) -> list[str]:
    """Expand ``*`` in language pairs: ``en-*`` is English with every other language.

    >>> expand_pairs(["en-*"], ["de", "en", "fr"])
    ['en-de', 'en-fr']
    """
    expanded = []
    for pair in [pairs] if isinstance(pairs, str) else pairs:
        source, target = split_pair(pair, languages)
        for a in languages if source == "*" else [source]:
            expanded += [f"{a}-{b}" for b in (languages if target == "*" else [target]) if a != b or "*" not in pair]
    return list(dict.fromkeys(expanded))
