"""Findings computed from records: effects, the conclusions they support, and sentences about both."""

from crosslens.report.findings.conclusions import Conclusion, conclusions
from crosslens.report.findings.effects import Change, Effect, Estimate, Incomplete, effects
from crosslens.report.findings.sentences import describe, findings, headline, metric_name, task_name

__all__ = [
    "Change",
    "Conclusion",
    "Effect",
    "Estimate",
    "Incomplete",
    "conclusions",
    "describe",
    "effects",
    "findings",
    "headline",
    "metric_name",
    "task_name",
]
