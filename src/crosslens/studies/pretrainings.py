"""Settings for pretraining the encoders of a study, and digests of the text."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from crosslens.corpora.dictionaries import load_dictionary
from crosslens.digests import digest
from crosslens.encoders.condition import Condition
from crosslens.encoders.layers import scale_layers
from crosslens.errors import RequestError, require_known
from crosslens.lab.export import PRETRAINING, pretraining_settings
from crosslens.lab.laboratory import DEFAULT_PRESET
from crosslens.lab.presets import find_laboratory
from crosslens.mlm.factors import find_factor
from crosslens.mlm.pretrain_settings import Pretraining, find_text, replaced
from crosslens.runs.corpora import Corpora
from crosslens.settings import read_settings
from crosslens.studies.study import PRETRAIN, Study, pretrainings

WRITTEN_FOR = 8
"""Encoder depth that the layers of `FACTORS` refer to, from Conneau, Wu et al. (2020)."""

LANGUAGES = 2
"""Languages of a bilingual encoder; its steps are scaled down from those for all languages of a laboratory."""


@dataclass(frozen=True, slots=True)
class NeededText:
    """Raw text or a dictionary that an encoder of a study is pretrained on.

    Attributes:
        name: name or file.
        partner: second language of the bilingual encoder; None: not bilingual.
        kind: what it is.
    """

    name: str
    partner: str | None
    condition: Condition
    kind: Literal["text", "dictionary"]

    @property
    def encoder(self) -> str:
        """``pretraining``, ``pretraining with fr``, ``pretraining with fr, extra-anchors``."""
        partner = f" with {self.partner}" if self.partner else ""
        return f"pretraining{partner}" + ("" if self.condition.is_reference else f", {self.condition.label}")


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
    require_known(name, (*shipped, "lab"), "there are no pretraining settings")
    return read_settings(shipped[name], Pretraining), "."


def settings_under(settings: Pretraining, study: Study, condition: Condition, partner: str | None) -> Pretraining:
    """Return the settings for pretraining the encoder of a condition.

    Args:
        settings: settings for all languages.
        study: the study, whose own factors come first.
        condition: its factor is applied, if it has one.
        partner: second language of a bilingual encoder; None: all languages.

    Raises:
        RequestError: for a language without text; for a factor that replaces text which this encoder does not read.
    """
    first = next(iter(settings.corpora))
    if condition.factor is not None:
        changes = dict(find_factor(condition.factor, study.factors))
        if "separate" in changes:
            changes["separate"] = scale_layers(str(changes["separate"]), WRITTEN_FOR, settings.shape.layers)
        replaces = [name.partition(".")[2] for name in changes if name.startswith("corpora.")]
        read = [first, partner] if partner is not None else list(settings.corpora)
        if replaces and (set(replaces) - set(settings.corpora) or not set(replaces) & set(read)):
            raise RequestError(
                f"the factor {condition.factor!r} replaces the text of {', '.join(replaces)}, and the encoder is"
                f" pretrained on {' and '.join(map(str, read))}",
                hint="name the text of a language that the encoder reads (factors: {NAME: {corpora.LANGUAGE: TEXT}})",
            )
        settings = replaced(settings, changes)
    return settings if partner is None else settings.between(first, partner)


def needed_texts(study: Study) -> Iterator[NeededText]:
    """Yield the texts and dictionaries that the encoders of a study are pretrained on; none if it pretrains none."""
    if not study.pretrains:
        return
    settings, base = find_pretraining(study.encoder.removeprefix(PRETRAIN))
    conditions = dict.fromkeys(condition.up_to("pretraining") for condition in study.conditions)
    for partner, condition in itertools.product(study.bilingual or [None], conditions):
        chosen = settings_under(settings, study, condition, partner)
        for name in chosen.corpora.values():
            yield NeededText(find_text(name, base), partner, condition, "text")
        for name in chosen.dictionaries.values() if chosen.extra_anchors is not None else ():
            yield NeededText(find_text(name, base), partner, condition, "dictionary")


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
