"""Settings for pretraining the encoders of a study, and digests of the text."""

from pathlib import Path

from crosslens.corpora.dictionaries import load_dictionary
from crosslens.digests import digest
from crosslens.errors import RequestError, suggest
from crosslens.lab.export import PRETRAINING, pretraining_settings
from crosslens.lab.laboratory import DEFAULT_PRESET
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.pretrain import find_text
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.runs.corpora import Corpora
from crosslens.settings import read_settings
from crosslens.studies.study import pretrainings

WRITTEN_FOR = 8
"""Encoder depth that the layers of `FACTORS` refer to, from Conneau, Wu et al. (2020)."""

LANGUAGES = 2
"""Languages of a bilingual encoder; its steps are scaled down from those for all languages of a laboratory."""


def find_pretraining(name: str) -> tuple[Pretraining, str]:
    """Find pretraining settings by name.

    Args:
        name: a ``.yaml`` file, the name of shipped settings, or ``lab:PRESET`` for artificial languages.

    Returns:
        The settings, and the base folder for their relative paths.

    Raises:
        RequestError: for an unknown name, or with every invalid setting of a file.
    """
    kind, _, preset = name.partition(":")
    if kind == "lab":
        return _of_laboratory(preset or DEFAULT_PRESET), "."
    if name.endswith((".yaml", ".yml")):
        return read_settings(name, Pretraining), str(Path(name).resolve().parent)
    shipped = pretrainings()
    if name not in shipped:
        raise RequestError(f"there are no pretraining settings {name!r}", hint=suggest(name, [*shipped, "lab"]))
    return read_settings(shipped[name], Pretraining), "."


def digests_of(settings: Pretraining, base: str, corpora: Corpora) -> dict[str, str]:
    """Return the digest of each language's text, and of each language pair's dictionary if dictionaries are used."""
    digests = {
        language: corpora.text(find_text(name, base), language=language).digest
        for language, name in settings.corpora.items()
    }
    if settings.extra_anchors is not None:
        for pair, name in settings.dictionaries.items():
            dictionary = load_dictionary(find_text(name, base), data=corpora.data)
            digests[pair] = digest([list(row) for row in dictionary.pairs])
    return digests


def _of_laboratory(preset: str) -> Pretraining:
    """Build settings for a laboratory. Each step reads one language under every factor, so that only factors differ."""
    laboratory = find_laboratory(preset)
    source, *others = laboratory.languages
    ending = laboratory.name(source).removeprefix(f"lab/{source}")
    steps = pretraining_settings(laboratory)["steps"] * LANGUAGES / len(laboratory.languages)
    return Pretraining.model_validate(
        {
            **PRETRAINING,
            "mix": "one",
            "steps": max(1, round(steps)),
            "corpora": {language: laboratory.name(language) for language in laboratory.languages},
            "dictionaries": {f"{source}-{target}": f"lab/{source}-{target}{ending}:train" for target in others},
            "validation": {"lines": 200, "every": 500},
        }
    )
