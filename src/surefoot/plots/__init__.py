"""Pictures: a Display computes in ``from_estimator`` and draws in ``plot``; matplotlib is imported on drawing."""

from surefoot.plots.calibration_display import CalibrationDisplay
from surefoot.plots.margin_display import MarginDisplay
from surefoot.plots.rejection_curve_display import RejectionCurveDisplay
from surefoot.plots.uncertainty_display import UncertaintyDisplay

__all__ = ["CalibrationDisplay", "MarginDisplay", "RejectionCurveDisplay", "UncertaintyDisplay"]
