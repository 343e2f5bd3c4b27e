"""Laboratories that were measured, by name.

The four languages are those of every preset: the source is SVO; one has its adjectives behind the noun, one its
genitives before it and no auxiliaries, and one is SOV with postpositions and marked objects.
"""

import re

from crosslens.errors import RequestError, suggest
from crosslens.lab.laboratory import DEFAULT_PRESET, Laboratory, LaboratorySettings
from crosslens.lab.language import Language

LANGUAGES = {
    "src": Language(),
    "adj": Language(adjective="after"),
    "gen": Language(genitive="before", auxiliaries=False),
    "sov": Language(order="SOV", adposition="after", accusative=True, genitive="before", adverb="before"),
}

GOOD = LaboratorySettings(languages=LANGUAGES, names=0.5)
"""Only half of the names are shared, so that entities have to be recognised and cannot be memorised."""

PRESETS: dict[str, LaboratorySettings] = {
    "good": GOOD,
    "cognates": GOOD.model_copy(update={"anchors": 1.0}),
    "too-short": GOOD.model_copy(update={"sentences": 7_000}),
    "no-anchors": GOOD.model_copy(update={"anchors": 0.0, "names": 0.0, "numerals": 0.0}),
}

DESCRIPTIONS: dict[str, str] = {
    "good": "a quarter of the content words and half of the names are shared; all others mean something else elsewhere",
    "cognates": "all content words are shared: the embeddings alone should transfer",
    "too-short": "a quarter of the text, read as often: too little to align anything",
    "no-anchors": "no word is shared but the full stop",
}


def describe_preset(preset: str) -> str:
    """What is particular about a preset, in a few words."""
    name, _, world = preset.partition("-w")
    return DESCRIPTIONS[name] + (f"; world number {world}" if world else "")


def find_laboratory(preset: str = DEFAULT_PRESET) -> Laboratory:
    """The laboratory of a preset.

    Args:
        preset: one of `PRESETS`; ``good-w1`` is its world number 1, with other preferences and words; ``demo`` is the
            one that the demonstration uses.

    Raises:
        RequestError: when there is none of that name.
    """
    named = re.fullmatch(r"(?P<preset>.+?)(?:-w(?P<world>\d+))?", DEFAULT_PRESET if preset == "demo" else preset)
    if named is None or named["preset"] not in PRESETS:
        raise RequestError(f"unknown preset {preset!r}", hint=suggest(preset, PRESETS))
    settings = PRESETS[named["preset"]]
    if named["world"]:
        settings = settings.model_copy(update={"seed": int(named["world"])})
    return Laboratory(settings, preset=named[0])
