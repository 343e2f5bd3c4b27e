"""Lexicons of artificial languages, with anchors, cognates, false friends and homonyms.

An *anchor* is the same word in all languages. A *cognate* is the source language's word after a regular sound change. A
*false friend* is a word that another language uses for a different concept. A *homonym* is a verb or adjective with the
form of a noun of its own language. All other words are unique.
"""

from collections.abc import Mapping

import numpy as np

from crosslens.digests import stream_seed
from crosslens.lab.grammar import KINDS
from crosslens.lab.laboratory_settings import LaboratorySettings
from crosslens.lab.language import Script
from crosslens.lab.world import World

SOUNDS: dict[Script, tuple[str, str]] = {
    "latin": ("bdfgklmnprstvz", "aeiou"),
    "cyrillic": ("бвгдзклмнпрст", "аеиоу"),
    "greek": ("βγδζκλμνπρστφ", "αεηιο"),
    "hebrew": ("בגדזלמנפקרשת", "אויע"),
    "georgian": ("ბგდვზკლმნპრსტ", "აეიოუ"),
}
"""Script -> its consonants and its vowels."""


class Words:
    """Generator of unique words of two or three syllables."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(stream_seed(seed, "words"))
        self._used: set[str] = set()

    def new(self, script: Script) -> str:
        """Generate an unused word."""
        consonants, vowels = SOUNDS[script]
        while True:
            syllables = int(self._generator.integers(2, 4))
            word = "".join(
                consonants[self._generator.integers(len(consonants))] + vowels[self._generator.integers(len(vowels))]
                for _ in range(syllables)
            )
            if self.take(word):
                return word

    def take(self, word: str) -> bool:
        """Reserve a word; return False if it is already in use."""
        free = word not in self._used
        self._used.add(word)
        return free


def make_lexicons(world: World, settings: LaboratorySettings) -> dict[str, list[str]]:
    """Generate the lexicon of every language; false friends are words of preceding languages.

    Returns:
        Language -> words, in the order of ``world.concepts``.
    """
    seed, words = settings.seed, Words(settings.seed)
    shared = {concept: words.new("latin") for concept in _anchors(world, settings)}
    shared[world.first["full_stop"]] = "."
    _add_namesakes(world, shared, seed)
    lexicons: dict[str, list[str]] = {}
    for name, language in settings.languages.items():
        generator = np.random.default_rng(stream_seed(seed, "lexicon", name))
        sound_change = _sound_change(language.script, generator)
        lexicon: dict[int, str] = dict(shared)
        used = set(lexicon.values())
        source = next(iter(lexicons.values()), None)
        not_shared = [concept for concept in range(len(world.concepts)) if concept not in shared]
        for concept in generator.permutation(not_shared):
            concept = int(concept)
            content = KINDS[world.concepts[concept][0]].content
            word = None
            if content and source and generator.random() < settings.cognates:
                cognate = source[concept].translate(sound_change)
                word = cognate if words.take(cognate) else None
            elif content and lexicons and generator.random() < settings.false_friends:
                word = _false_friend(concept, lexicons, used, generator)
            word = word or words.new(language.script)
            lexicon[concept] = word
            used.add(word)
        _add_homonyms(world, lexicon, settings.homonyms, set(shared), generator)
        lexicons[name] = [lexicon[concept] for concept in range(len(world.concepts))]
    return lexicons


def _anchors(world: World, shares: LaboratorySettings) -> list[int]:
    """Numbers of the concepts that have the same word in all languages."""
    anchors = []
    for kind, size in world.settings.sizes.items():
        share = (
            shares.anchors
            if KINDS[kind].content
            else shares.names
            if KINDS[kind].upos == "PROPN"
            else shares.numerals
            if kind == "numeral"
            else 0.0
        )
        count = max(1, round(share * size)) if share > 0 else 0
        # Spread over frequency ranks, so that anchors are never all rare.
        ranks = {int((i + 0.5) * size / count) for i in range(count)}
        anchors += [world.first[kind] + rank for rank in sorted(ranks)]
    return anchors


def _add_namesakes(world: World, shared: dict[int, str], seed: int) -> None:
    """Name some organisations after places."""
    settings = world.settings
    generator = np.random.default_rng(stream_seed(seed, "namesakes"))
    count = round(settings.namesakes * settings.organisations)
    for organisation in generator.permutation(settings.organisations)[:count]:
        concept = world.first["organisation"] + int(organisation)
        place = world.first["place"] + int(organisation) % settings.places
        if concept in shared and place in shared:
            shared[concept] = shared[place]


def _false_friend(
    concept: int, lexicons: Mapping[str, list[str]], used: set[str], generator: np.random.Generator
) -> str | None:
    """Choose an unused word that preceding languages use for other concepts only."""
    translations = {lexicon[concept] for lexicon in lexicons.values()}
    candidates = sorted({word for lexicon in lexicons.values() for word in lexicon} - used - translations)
    return candidates[int(generator.integers(len(candidates)))] if candidates else None


def _add_homonyms(
    world: World, lexicon: dict[int, str], share: float, shared: set[int], generator: np.random.Generator
) -> None:
    """Give some verbs and adjectives the form of a noun."""
    nouns = [world.first["noun"] + rank for rank in range(world.settings.nouns)]
    for concept, (kind, _) in enumerate(world.concepts):
        if KINDS[kind].upos in ("VERB", "ADJ") and concept not in shared and generator.random() < share:
            lexicon[concept] = lexicon[nouns[int(generator.integers(len(nouns)))]]


def _sound_change(script: Script, generator: np.random.Generator) -> dict[int, str]:
    """Draw a regular sound change from the source language into a script, as a table for `str.translate`."""
    table = {}
    for target, source in zip(SOUNDS[script], SOUNDS["latin"], strict=True):
        table |= {ord(sound): target[int(generator.integers(len(target)))] for sound in source}
    return table
