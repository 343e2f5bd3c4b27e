"""Made-up rules that estimate transfer."""

import numpy as np

from crosslens.unseen.evidence import FEATURES
from crosslens.unseen.rule import Measured, Provenance, Rule


def made_up(languages=8, noise=0.0, seed=0):
    """Transfer that depends on the features exactly, but for noise."""
    generator = np.random.default_rng(seed)
    rows = []
    for number in range(languages):
        for source in ("en", "fr"):
            features = generator.normal(size=len(FEATURES))
            score = 50 + features @ [-6, -2, 3, 5, 4] + noise * generator.normal()
            rows.append(Measured(f"l{number}", f"c{number}", source, float(score), tuple(features)))
    return Rule(tuple(rows), Provenance("made up"))
