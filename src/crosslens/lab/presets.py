"""Laboratories that were measured, by name.

The four languages are those of every preset: the source is SVO; one has its adjectives behind the noun, one its
genitives before it and no auxiliaries, and one is SOV with postpositions and marked objects.
"""

from crosslens.errors import RequestError, suggest
from crosslens.lab.laboratory import USUAL, Laboratory, LaboratorySettings
from crosslens.lab.language import Language

LANGUAGES = {
    "src": Language(),
    "adj": Language(adjective="after"),
    "gen": Language(genitive="before", auxiliaries=False),
    "sov": Language(order="SOV", adposition="after", accusative=True, genitive="before", adverb="before"),
}

PRESETS: dict[str, LaboratorySettings] = {
    "good": LaboratorySettings(languages=LANGUAGES),
    "cognates": LaboratorySettings(languages=LANGUAGES, anchors=1.0, false_friends=0.6),
    "too-short": LaboratorySettings(languages=LANGUAGES, false_friends=0.6, sentences=7_000),
    "no-anchors": LaboratorySettings(languages=LANGUAGES, anchors=0.0, names=0.0, numerals=0.0, false_friends=0.6),
}

DESCRIPTIONS: dict[str, str] = {
    "good": "a quarter of the content words is shared, and all others mean something else in another language",
    "cognates": "all content words are shared: the embeddings alone should transfer",
    "too-short": "a quarter of the text: too little to align anything",
    "no-anchors": "no word is shared but the full stop",
}


def find_laboratory(preset: str = USUAL) -> Laboratory:
    """The laboratory of a preset.

    Raises:
        RequestError: when there is none of that name.
    """
    if preset not in PRESETS:
        raise RequestError(f"there is no preset {preset!r}", hint=suggest(preset, PRESETS))
    return Laboratory(PRESETS[preset], preset=preset)
