"""Words for concepts: what languages share, what they seem to share, and what is their own.

An *anchor* is one word in all languages. A *false friend* is a word that another language uses for another concept. A
*homonym* is a verb or adjective that sounds like a noun of its own language. A *cognate* is the source's word after the
language's sound change. All other words are new.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crosslens.digests import stream_seed
from crosslens.lab.grammar import KINDS
from crosslens.lab.language import Language, Script
from crosslens.lab.world import World

SOUNDS: dict[Script, tuple[str, str]] = {
    "latin": ("bdfgklmnprstvz", "aeiou"),
    "cyrillic": ("бвгдзклмнпрст", "аеиоу"),
    "greek": ("βγδζκλμνπρστφ", "αεηιο"),
    "hebrew": ("בגדזלמנפקרשת", "אויע"),
    "georgian": ("ბგდვზკლმნპრსტ", "აეიოუ"),
}
"""Consonants and vowels of each script."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What languages share.

    Attributes:
        anchors: share of the content words of each kind, spread over frequent and rare ones.
        names: share of the names.
        numerals: share of the numerals.
        cognates: share of the other content words.
        false_friends: share of those that are no cognates.
        homonyms: share of the verbs and adjectives of each language.
    """

    anchors: float
    names: float
    numerals: float
    cognates: float
    false_friends: float
    homonyms: float


class Words:
    """New words, each once: two or three syllables."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(stream_seed(seed, "words"))
        self._taken: set[str] = set()

    def new(self, script: Script) -> str:
        """A word that is none so far."""
        consonants, vowels = SOUNDS[script]
        while True:
            syllables = int(self._generator.integers(2, 4))
            word = "".join(
                consonants[self._generator.integers(len(consonants))] + vowels[self._generator.integers(len(vowels))]
                for _ in range(syllables)
            )
            if word not in self._taken:
                self._taken.add(word)
                return word

    def take(self, word: str) -> bool:
        """Whether a word was free; it is not any more."""
        free = word not in self._taken
        self._taken.add(word)
        return free


def make_lexicons(
    world: World, languages: Mapping[str, Language], shares: Shares, *, seed: int
) -> dict[str, list[str]]:
    """Each language's word for each concept of a world.

    Args:
        world: whose concepts.
        languages: in order: the first is the source, and a false friend is a word of one before.
        shares: what is shared.
        seed: of everything drawn.

    Returns:
        Language -> the concepts' words, in the order of ``world.concepts``.
    """
    words = Words(seed)
    shared = {concept: words.new("latin") for concept in _anchors(world, shares)}
    shared[world.first["full_stop"]] = "."
    _call_alike(world, shared, seed)
    lexicons: dict[str, list[str]] = {}
    for name, language in languages.items():
        generator = np.random.default_rng(stream_seed(seed, "lexicon", name))
        changed = _sound_change(language.script, generator)
        own: dict[int, str] = dict(shared)
        used = set(own.values())
        source = next(iter(lexicons.values()), None)
        others = [concept for concept in range(len(world.concepts)) if concept not in own]
        for concept in generator.permutation(others):
            concept = int(concept)
            content = KINDS[world.concepts[concept][0]].content
            word = None
            if content and source and generator.random() < shares.cognates:
                cognate = source[concept].translate(changed)
                word = cognate if words.take(cognate) else None
            elif content and lexicons and generator.random() < shares.false_friends:
                word = _false_friend(concept, lexicons, used, generator)
            word = word or words.new(language.script)
            own[concept] = word
            used.add(word)
        _sound_alike(world, own, shares.homonyms, set(shared), generator)
        lexicons[name] = [own[concept] for concept in range(len(world.concepts))]
    return lexicons


def _anchors(world: World, shares: Shares) -> list[int]:
    """The concepts that have one word in all languages."""
    chosen = []
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
        # Spread over the ranks of frequency, so that no world's anchors are all rare.
        ranks = {int((i + 0.5) * size / count) for i in range(count)}
        chosen += [world.first[kind] + rank for rank in sorted(ranks)]
    return chosen


def _call_alike(world: World, shared: dict[int, str], seed: int) -> None:
    """Organisations that are called like a place."""
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
    """A word that some language before uses for another concept, and this one for none yet."""
    candidates = sorted(
        {word for lexicon in lexicons.values() for i, word in enumerate(lexicon) if i != concept} - used
    )
    synonyms = {lexicon[concept] for lexicon in lexicons.values()}
    candidates = [word for word in candidates if word not in synonyms]
    return candidates[int(generator.integers(len(candidates)))] if candidates else None


def _sound_alike(
    world: World, own: dict[int, str], share: float, kept: set[int], generator: np.random.Generator
) -> None:
    nouns = [world.first["noun"] + rank for rank in range(world.settings.nouns)]
    for concept, (kind, _) in enumerate(world.concepts):
        if KINDS[kind].upos in ("VERB", "ADJ") and concept not in kept and generator.random() < share:
            own[concept] = own[nouns[int(generator.integers(len(nouns)))]]


def _sound_change(script: Script, generator: np.random.Generator) -> dict[int, str]:
    """A regular change of the source's sounds into this script's."""
    table = {}
    for target, source in zip(SOUNDS[script], SOUNDS["latin"], strict=True):
        table |= {ord(sound): target[int(generator.integers(len(target)))] for sound in source}
    return table
