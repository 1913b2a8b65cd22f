"""The engine: perfect trees in heap order on a binned table."""

from surefoot.trees.forest import Forest, Tree
from surefoot.trees.grow import GrownTree, TreeGrower
from surefoot.trees.steps import StepFunctions

__all__ = ["Forest", "GrownTree", "StepFunctions", "Tree", "TreeGrower"]
