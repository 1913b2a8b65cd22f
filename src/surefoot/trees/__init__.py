"""The engine: perfect trees in heap order on a binned table."""

from surefoot.trees.classification_grower import TreeGrower
from surefoot.trees.forest import Tree, VotingForest
from surefoot.trees.split_kernels import GrownTree
from surefoot.trees.steps import StepFunctions

__all__ = ["GrownTree", "StepFunctions", "Tree", "TreeGrower", "VotingForest"]
