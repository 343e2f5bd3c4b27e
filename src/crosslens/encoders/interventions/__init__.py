"""Interventions on encoders, one module each. To add one, write a module and a row here, or a plug-in.

Conditions write, record and apply their interventions in the order of this registry.
"""

from crosslens.encoders.interventions.checkpoints import Checkpoint
from crosslens.encoders.interventions.factor import Factor
from crosslens.encoders.interventions.features import Features
from crosslens.encoders.interventions.freeze import Freeze
from crosslens.encoders.interventions.intervention import Intervention
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.reading import Reading
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.encoders.interventions.start import Start
from crosslens.encoders.interventions.swap import Add, Revert, Swap
from crosslens.encoders.models.lora import Lora
from crosslens.encoders.models.quantize import Quantize
from crosslens.encoders.states.erase import Erase
from crosslens.encoders.states.mean import Mean
from crosslens.encoders.states.noise import Noise
from crosslens.encoders.states.patch import Patch
from crosslens.encoders.states.resample import Resample
from crosslens.encoders.states.rotate import Rotate
from crosslens.encoders.states.zero import Zero
from crosslens.plugins import Registry

_BEFORE: tuple[type[Intervention], ...] = (
    Factor,
    Checkpoint,
    Start,
    Quantize,
    Reinit,
    Freeze,
    Features,
    Lora,
    OnOneLayer,
    Reading,
    InPrecision,
)
_AFTER: tuple[type[Intervention], ...] = (Revert, Swap, Add, Zero, Mean, Resample, Noise, Rotate, Erase, Patch)
INTERVENTIONS: Registry[type[Intervention]] = Registry(
    "intervention", {kind.kind: kind for kind in (*_BEFORE, *_AFTER)}, classes=True
)
"""Kind -> intervention class: built-in ones and those of the entry point ``crosslens.interventions``."""

__all__ = ["INTERVENTIONS", "Intervention"]
