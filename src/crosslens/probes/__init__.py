"""What the states of a layer tell: one file a probe. A new probe is one file here and one row in `PROBES`."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from crosslens.errors import RequestError, suggest
from crosslens.probes.language import LanguageIdentification
from crosslens.probes.probe import Probe
from crosslens.probes.topic import Topic
from crosslens.settings import replace_settings

_ALL: tuple[Probe, ...] = (LanguageIdentification(), Topic())
PROBES = {probe.name: probe for probe in _ALL}


def find_probe(name: str, settings: Mapping[str, Any] | None = None) -> Probe:
    """The probe of this name, with settings that are not to be the usual ones.

    Raises:
        RequestError: when there is none, or it has no such setting, or a setting does not take such a value.
    """
    if name not in PROBES:
        raise RequestError(f"there is no probe {name!r}", hint=suggest(name, PROBES))
    usual = PROBES[name]
    assert isinstance(usual, BaseModel)
    return replace_settings(usual, settings or {}, what=f"the probe {name}")


__all__ = ["PROBES", "Probe", "find_probe"]
