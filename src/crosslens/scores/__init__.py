"""Scores computed from gold and predicted annotation, stored as counts per sentence."""

from crosslens.scores.accuracy import accuracy
from crosslens.scores.attachment import attachment_scores
from crosslens.scores.score import Score, bootstrap_interval
from crosslens.scores.spans import span_scores

__all__ = ["Score", "accuracy", "attachment_scores", "bootstrap_interval", "span_scores"]
