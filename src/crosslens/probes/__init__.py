"""What the states of a layer tell. A new probe is one file here and one row in `PROBES`, or a plug-in."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from crosslens.plugins import Registry
from crosslens.probes.probe import Probe
from crosslens.probes.text_labels import LanguageIdentification, Topic
from crosslens.probes.upos import PartsOfSpeech
from crosslens.settings import choose

_ALL: tuple[Probe, ...] = (LanguageIdentification(), Topic(), PartsOfSpeech())
PROBES: Registry[Probe] = Registry("probe", {probe.name: probe for probe in _ALL}, contracts=(Probe, BaseModel))
"""Name -> probe with its default settings: the built-in ones, and those of the entry points ``crosslens.probes``."""


def find_probe(name: str, settings: Mapping[str, Any] | None = None) -> Probe:
    """The probe of this name, with settings that are not to be the usual ones.

    Raises:
        RequestError: when there is none, or it has no such setting, or a setting does not take such a value.
    """
    return choose(name, PROBES, settings or {}, kind="probe")


__all__ = ["PROBES", "Probe", "find_probe"]
