"""Result versions, increased by hand whenever the same request gives different results.

They are part of the identity of runs (weights) and questions (scores, similarities, probes), so that a run store never
reuses outdated results.
"""

FINE_TUNING = 4
FINE_TUNING_FROZEN = 5
"""Fine-tuning of encoders with frozen parts."""
BILSTM = 2
"""Architecture, initialisation and training of the BiLSTM baseline, in addition to the versions above."""
PRETRAINING = 2
ADAPTATION = 2

SCORING = 1
"""Scores of a model on a corpus."""
SIMILARITY = 1
PROBING = 2
OVERLAP = 2


def current() -> dict[str, int]:
    """Return all versions by name; a study stores them with its plan to recognise outdated results."""
    return {name.lower(): number for name, number in globals().items() if name.isupper()}
