"""Findings computed from records: effects, the conclusions they support, and sentences about both."""

from crosslens.report.findings.conclusions import (
    CostsMost,
    InEmbeddings,
    LosesSource,
    LosesTransfer,
    LowestCarry,
    LowestSpare,
    conclusions,
)
from crosslens.report.findings.effects import Change, Effect, Estimate, Incomplete, effects
from crosslens.report.findings.sentences import describe, findings, headline, metric_name, task_name

__all__ = [
    "Change",
    "CostsMost",
    "Effect",
    "Estimate",
    "InEmbeddings",
    "Incomplete",
    "LosesSource",
    "LosesTransfer",
    "LowestCarry",
    "LowestSpare",
    "conclusions",
    "describe",
    "effects",
    "findings",
    "headline",
    "metric_name",
    "task_name",
]
