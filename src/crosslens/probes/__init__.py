"""What the states of a layer tell: one file a probe. A new probe is one file here and one row in `PROBES`."""

from collections.abc import Mapping
from typing import Any

from crosslens.probes.language import LanguageIdentification
from crosslens.probes.probe import Probe
from crosslens.probes.topic import Topic
from crosslens.settings import choose

_ALL: tuple[Probe, ...] = (LanguageIdentification(), Topic())
PROBES = {probe.name: probe for probe in _ALL}


def find_probe(name: str, settings: Mapping[str, Any] | None = None) -> Probe:
    """The probe of this name, with settings that are not to be the usual ones.

    Raises:
        RequestError: when there is none, or it has no such setting, or a setting does not take such a value.
    """
    return choose(name, PROBES, settings or {}, kind="probe")


__all__ = ["PROBES", "Probe", "find_probe"]
