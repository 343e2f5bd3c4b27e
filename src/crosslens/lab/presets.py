"""Presets of artificial languages.

All presets have the same four grammars: the source language ``src`` is SVO; ``adj`` has adjectives after the noun;
``gen`` has genitives before the noun and no auxiliaries; ``sov`` is SOV, with postpositions, marked objects,
and genitives and adverbs before their heads.
"""

import re
from pathlib import Path

from crosslens.errors import RequestError, suggest
from crosslens.lab.laboratory import DEFAULT_PRESET, Laboratory, LaboratorySettings
from crosslens.lab.language import Language
from crosslens.settings import replace_settings

LANGUAGES = {
    "src": Language(),
    "adj": Language(adjective="after"),
    "gen": Language(genitive="before", auxiliaries=False),
    "sov": Language(order="SOV", adposition="after", accusative=True, genitive="before", adverb="before"),
}

GOOD = LaboratorySettings(languages=LANGUAGES, names=0.5)
"""Languages share only half of the names, so that entities cannot simply be memorised."""

PRESETS: dict[str, LaboratorySettings] = {
    "good": GOOD,
    "cognates": GOOD.model_copy(update={"anchors": 1.0}),
    "too-short": GOOD.model_copy(update={"sentences": 7_000}),
    "no-anchors": GOOD.model_copy(update={"anchors": 0.0, "names": 0.0, "numerals": 0.0}),
}

DESCRIPTIONS: dict[str, str] = {
    "good": "a quarter of the content words and half of the names are shared; other content words are false friends",
    "cognates": "all content words are shared, so the embeddings alone should transfer",
    "too-short": "a quarter of the text, for as many epochs: too little to align the languages",
    "no-anchors": "only the full stop is shared",
}


def describe_preset(preset: str) -> str:
    """Describe a preset in a few words.

    >>> describe_preset("no-anchors-w1")
    'only the full stop is shared; world number 1'
    """
    name, _, world = preset.partition("-w")
    return DESCRIPTIONS[name] + (f"; world number {world}" if world else "")


def find_laboratory(preset: str = DEFAULT_PRESET) -> Laboratory:
    """Build the laboratory of a preset.

    Args:
        preset: name in `PRESETS`, or ``demo``, which is the default preset. A suffix such as ``-w1`` sets the random
            seed, which changes words and selectional preferences.

    Raises:
        RequestError: for an unknown preset, or a seed of more than 63 bits.
    """
    named = re.fullmatch(r"(?P<preset>.+?)(?:-w(?P<world>[0-9]+))?", DEFAULT_PRESET if preset == "demo" else preset)
    if named is None or named["preset"] not in PRESETS:
        raise RequestError(f"unknown preset {preset!r}", hint=suggest(preset, PRESETS))
    settings = PRESETS[named["preset"]]
    if named["world"]:
        settings = replace_settings(settings, {"seed": named["world"]}, what=f"the preset {preset}")
    return Laboratory(settings, preset=named[0])


def given_name(encoder: str) -> str:
    """Name under which an encoder was given: ``lab:good`` for the cached encoder of a laboratory, else its own.

    >>> given_name("xlm-roberta-base")
    'xlm-roberta-base'
    """
    folder = Path(encoder)
    preset = folder.name.removeprefix("lab-")
    is_cached = preset != folder.name and (folder.parent / "lab" / "pretrain.yaml").is_file()
    return f"lab:{preset}" if is_cached else encoder
