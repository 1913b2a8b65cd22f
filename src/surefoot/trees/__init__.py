"""The engine: perfect trees in heap order on a binned table."""

from surefoot.trees.forest import Forest, Tree
from surefoot.trees.grow import grow_tree
from surefoot.trees.steps import StepFunctions

__all__ = ["Forest", "StepFunctions", "Tree", "grow_tree"]
