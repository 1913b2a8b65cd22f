"""Question 3: would the conclusion survive dropping a row?"""

from surefoot.selection.chosen_models import ModelWeights
from surefoot.selection.cluster_selector import ClusterCountSelector
from surefoot.selection.function_selector import FunctionSelector
from surefoot.selection.graphical_lasso import solve_graphical_lasso
from surefoot.selection.graphical_lasso_selector import GraphicalLassoSelector
from surefoot.selection.guarantee import stability_delta, stability_epsilon
from surefoot.selection.lasso_selector import LassoSelector
from surefoot.selection.leave_one_out import LeaveOneOut
from surefoot.selection.logistic_lasso_selector import LogisticLassoSelector
from surefoot.selection.rules import Argmax, InclusionProbability, InflatedArgmax, TopK, inflated_argmax
from surefoot.selection.search_selector import SearchSelector
from surefoot.selection.sindy_selector import SINDySelector, ensemble_coefficients
from surefoot.selection.stable_classifier import StableClassifier
from surefoot.selection.stable_selector import StableSelector
from surefoot.selection.tree_selector import TreeSelector, tree_text

__all__ = [
    "Argmax",
    "ClusterCountSelector",
    "FunctionSelector",
    "GraphicalLassoSelector",
    "InclusionProbability",
    "InflatedArgmax",
    "LassoSelector",
    "LeaveOneOut",
    "LogisticLassoSelector",
    "ModelWeights",
    "SINDySelector",
    "SearchSelector",
    "StableClassifier",
    "StableSelector",
    "TopK",
    "TreeSelector",
    "ensemble_coefficients",
    "inflated_argmax",
    "solve_graphical_lasso",
    "stability_delta",
    "stability_epsilon",
    "tree_text",
]
