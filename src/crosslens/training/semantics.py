"""Which results are the same: numbers that are raised by hand whenever the same request gives other weights.

They are part of what a run is known by, so that a store never takes old weights for new ones.
"""

FINE_TUNING = 4
FINE_TUNING_FROZEN = 5
"""Of encoders with frozen layers."""
PRETRAINING = 2
ADAPTATION = 2
BILSTM = 1
"""Of the drawing of a `crosslens.encoders.bilstm.Bilstm`."""
