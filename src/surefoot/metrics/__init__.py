"""Metrics of predictions, of their uncertainty and of selected models."""

from surefoot.metrics.auc import ood_auc
from surefoot.metrics.likelihood import coverage, crps, nll
from surefoot.metrics.margins import voting_margins
from surefoot.metrics.rejection import RejectionCurve, prediction_rejection_ratio, rejection_curve
from surefoot.metrics.selection import instability, mean_set_size, utility_weighted_accuracy

__all__ = [
    "RejectionCurve",
    "coverage",
    "crps",
    "instability",
    "mean_set_size",
    "nll",
    "ood_auc",
    "prediction_rejection_ratio",
    "rejection_curve",
    "utility_weighted_accuracy",
    "voting_margins",
]
