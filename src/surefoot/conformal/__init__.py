"""Intervals and sets of labels with a guaranteed coverage, around any model."""

from surefoot.conformal.classifier import ConformalClassifier
from surefoot.conformal.regressor import ConformalRegressor

__all__ = ["ConformalClassifier", "ConformalRegressor"]
