"""A measure: the mean cosine of translations, which changes with rotation of one side."""

import numpy as np

from crosslens.similarity.cka import Centred, pair_up
from crosslens.similarity.measures import Measure


def compute(x: Centred, y: Centred) -> float:
    """Mean cosine of the centred vectors of a sentence and its translation."""
    a, b = (side.features for side in pair_up(x, y))
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(1) / norms).mean()) if norms.all() else float("nan")


DOT = Measure(compute, frozenset({"scaling", "translation"}), low=-1.0, same_width=True)
