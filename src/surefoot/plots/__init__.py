"""Charts: a Display computes in ``from_estimator`` and draws in ``plot``; matplotlib is imported when it draws."""

from surefoot.plots.calibration_display import CalibrationDisplay
from surefoot.plots.comparison_display import ComparisonDisplay
from surefoot.plots.cost_curve_display import CostCurveDisplay
from surefoot.plots.dependence_display import DependenceDisplay
from surefoot.plots.graph_display import GraphDisplay
from surefoot.plots.learning_curve_display import LearningCurveDisplay
from surefoot.plots.margin_display import MarginDisplay
from surefoot.plots.model_weights_display import ModelWeightsDisplay
from surefoot.plots.rejection_curve_display import RejectionCurveDisplay
from surefoot.plots.rule_curve import RuleCurve
from surefoot.plots.shift_display import ShiftDisplay
from surefoot.plots.stability_display import StabilityDisplay
from surefoot.plots.subgroup_display import SubgroupDisplay
from surefoot.plots.training_curve_display import TrainingCurveDisplay
from surefoot.plots.uncertainty_display import UncertaintyDisplay

__all__ = [
    "CalibrationDisplay",
    "ComparisonDisplay",
    "CostCurveDisplay",
    "DependenceDisplay",
    "GraphDisplay",
    "LearningCurveDisplay",
    "MarginDisplay",
    "ModelWeightsDisplay",
    "RejectionCurveDisplay",
    "RuleCurve",
    "ShiftDisplay",
    "StabilityDisplay",
    "SubgroupDisplay",
    "TrainingCurveDisplay",
    "UncertaintyDisplay",
]
