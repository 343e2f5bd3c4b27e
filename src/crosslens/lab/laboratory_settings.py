"""Settings of a set of artificial languages."""

from typing import Annotated

from pydantic import Field, field_validator

from crosslens.lab.language import Language
from crosslens.lab.world import WorldSettings
from crosslens.settings import Seed, Strict

Share = Annotated[float, Field(ge=0, le=1)]


class LaboratorySettings(Strict):
    """Settings of a set of artificial languages.

    Attributes:
        world: number of concepts and strength of selectional preferences.
        languages: name -> grammar; the first is the source language.
        anchors: fraction of the content words that all languages share, spread over frequency ranks.
        names: fraction of the names that all languages share.
        numerals: fraction of the numerals that all languages share.
        cognates: fraction of the other content words that are cognates of the source language's.
        false_friends: fraction of the remaining content words that another language uses for a different concept.
        homonyms: fraction of the other verbs and adjectives that get the form of a noun.
        sentences: number of sentences of raw text per language.
        seed: random seed.
    """

    world: WorldSettings = WorldSettings()
    languages: dict[str, Language]
    anchors: Share = 0.25
    names: Share = 1.0
    numerals: Share = 1.0
    cognates: Share = 0.0
    false_friends: Share = 1.0
    homonyms: Share = 0.05
    sentences: Annotated[int, Field(ge=1)] = 30_000
    seed: Seed = 0

    @field_validator("languages")
    @classmethod
    def _named(cls, languages: dict[str, Language]) -> dict[str, Language]:
        wrong = [name for name in languages if not (name.isascii() and name.isalnum() and name.islower())]
        if wrong or not languages:
            raise ValueError(f"language names must consist of lower-case letters and digits: {wrong or 'none given'}")
        return languages
