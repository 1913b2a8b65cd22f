"""Question 3: would the conclusion survive dropping a row?"""

from surefoot.selection.graphical_lasso import solve_graphical_lasso
from surefoot.selection.graphical_lasso_selector import GraphicalLassoSelector
from surefoot.selection.guarantee import stability_delta, stability_epsilon
from surefoot.selection.inflated_argmax import inflated_argmax
from surefoot.selection.lasso_selector import LassoSelector
from surefoot.selection.leave_one_out import LeaveOneOut
from surefoot.selection.model_weights import ModelWeights
from surefoot.selection.rules import Argmax, InclusionProbability, InflatedArgmax, TopK
from surefoot.selection.sindy_selector import SINDySelector
from surefoot.selection.stable_selector import StableSelector

__all__ = [
    "Argmax",
    "GraphicalLassoSelector",
    "InclusionProbability",
    "InflatedArgmax",
    "LassoSelector",
    "LeaveOneOut",
    "ModelWeights",
    "SINDySelector",
    "StableSelector",
    "TopK",
    "inflated_argmax",
    "solve_graphical_lasso",
    "stability_delta",
    "stability_epsilon",
]
