"""Probing classifiers on the states of each layer. Add a probe with one file and one row in `PROBES`, or a plug-in."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from crosslens.plugins import Registry
from crosslens.probes.probe import Probe
from crosslens.probes.text_labels import LanguageIdentification, Topic
from crosslens.probes.upos import PartsOfSpeech
from crosslens.settings import choose

# A constant of a class does for a property of the protocol, which pyright denies.
_ALL: tuple[Probe, ...] = (LanguageIdentification(), Topic(), PartsOfSpeech())  # pyright: ignore[reportAssignmentType]
PROBES: Registry[Probe] = Registry("probe", {probe.name: probe for probe in _ALL}, contracts=(Probe, BaseModel))
"""Name -> probe with its default settings: the built-in ones, and those of the entry points ``crosslens.probes``."""


def find_probe(name: str, settings: Mapping[str, Any] | None = None) -> Probe:
    """Return a probe by name, with settings that replace its defaults.

    Raises:
        RequestError: for an unknown probe or setting, or an invalid value.
    """
    return choose(name, PROBES, settings or {}, kind="probe")


__all__ = ["PROBES", "Probe", "find_probe"]
