"""Which results are the same: numbers that are raised by hand whenever the same request gives other results.

Those of weights are part of what a run is known by, those of answers of what a question is known by, so that a store
never takes old results for new ones.
"""

FINE_TUNING = 4
FINE_TUNING_FROZEN = 5
"""Of encoders that are not trained whole."""
BILSTM = 2
"""Of networks without pretraining: what they are made of, how they are drawn and trained; beside the number above."""
PRETRAINING = 2
ADAPTATION = 2

SCORING = 1
"""Of the scores of a model on a corpus."""
SIMILARITY = 1
PROBING = 2
OVERLAP = 1


def current() -> dict[str, int]:
    """All of them by name: a study keeps them with its plan, so that results of an older one are told apart."""
    return {name.lower(): number for name, number in globals().items() if name.isupper()}
