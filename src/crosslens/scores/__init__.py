"""Gold and predicted annotation in, per-sentence counts out: nothing here knows of models."""

from crosslens.scores.accuracy import accuracy
from crosslens.scores.score import Score, bootstrap_interval

__all__ = ["Score", "accuracy", "bootstrap_interval"]
