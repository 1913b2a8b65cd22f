"""Measures of what models say and how far to trust it."""

from surefoot.metrics.likelihood import coverage, crps, nll
from surefoot.metrics.margins import voting_margins
from surefoot.metrics.ood import ood_auc
from surefoot.metrics.rejection import RejectionCurve, prediction_rejection_ratio, rejection_curve

__all__ = [
    "RejectionCurve",
    "coverage",
    "crps",
    "nll",
    "ood_auc",
    "prediction_rejection_ratio",
    "rejection_curve",
    "voting_margins",
]
