"""Interventions on encoders, one module each. To add one, write a module and a row here, or a plug-in.

Conditions write, record and apply their interventions in the order of this registry.
"""

from crosslens.encoders.interventions.factor import Factor
from crosslens.encoders.interventions.features import Features
from crosslens.encoders.interventions.freeze import Freeze
from crosslens.encoders.interventions.intervention import Intervention
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.encoders.interventions.start import Start
from crosslens.plugins import Registry

_ALL: tuple[type[Intervention], ...] = (Factor, Start, Reinit, Freeze, Features, OnOneLayer)
INTERVENTIONS: Registry[type[Intervention]] = Registry("intervention", {kind.kind: kind for kind in _ALL}, classes=True)
"""Kind -> intervention class: built-in ones and those of the entry point ``crosslens.interventions``."""

__all__ = ["INTERVENTIONS", "Intervention"]
