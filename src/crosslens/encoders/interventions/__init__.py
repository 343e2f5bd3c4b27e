"""What can be done to an encoder: one file an intervention. A new one is a file here and a row, or a plug-in.

The order is that in which the parts of a condition are written, recorded and applied.
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
"""Kind -> class of its values: the built-in ones, and those of the entry points ``crosslens.interventions``."""

__all__ = ["INTERVENTIONS", "Intervention"]
